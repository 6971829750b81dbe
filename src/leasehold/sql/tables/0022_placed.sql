-- A plain job stands in ready where it was enqueued until it is claimed, so the job itself says where: at (lane of its queue and
-- priority, pass, job_id), which is the primary key of ready. Such rows are placed, and need no entry in an index of jobs; whoever
-- looks for a job finds both sorts by ready_of.
--
-- No job has two rows, though no index says so of all of them. One that is placed was inserted together with its job, in one
-- statement after the other, and its key is as unique as the job's. All others are inserted by whoever has just deleted the
-- job's row elsewhere, and are unique among themselves. Nobody places a row again: it is false for those that come back, and
-- for those that were here before.

alter table leasehold.job add column pass bigint;  -- of its row in ready, if that was placed; it stays when the row is gone

alter table leasehold.ready add column placed boolean not null default false;
-- Both tables are ours by now, so whoever waits does so only as long as what waits is read once.
drop index leasehold.ready_job;
create unique index ready_job on leasehold.ready (job_id) where not placed;
