-- What the files of a pack granted, kept with the newest of them: a dump that is restored where the roles are missing
-- loses it, and the files run only once.
alter table leasehold.migration add column grants text[];
