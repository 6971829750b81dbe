-- A plain job stands in ready where it was enqueued until it is claimed. So the job itself says where: in the lane of its
-- queue and priority, at its pass. That and its id are the primary key of ready, and such a row, which is placed, needs no
-- entry in an index of jobs. Whoever looks for a job's row, placed or not, asks ready_at or ready_of.
--
-- That no job has two rows is no longer said by one index. A placed row is written once, together with its job, whose id is
-- unique. All others are written by whoever has just deleted the job's row, here or elsewhere, and are unique among
-- themselves. Nobody places a row later, and neither queue nor priority of a job ever changes. Jobs of a group or a gate are
-- not placed: claims look for them by the index.

alter table leasehold.job add column pass bigint;  -- where its row was placed, and stays when that is gone; null: it was not

-- False for what was here before and for what comes back.
alter table leasehold.ready add column placed boolean not null default false;

-- Both tables are ours by now: everybody waits for as long as it takes to read once what waits.
drop index leasehold.ready_job;
create unique index ready_job on leasehold.ready (job_id) where not placed;
