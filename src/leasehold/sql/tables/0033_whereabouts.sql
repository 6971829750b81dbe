-- whereabouts_at tells the state of a job, and where it is.

drop function if exists leasehold.state_at(uuid, text, smallint, bigint);
