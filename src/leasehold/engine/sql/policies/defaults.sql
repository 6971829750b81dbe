-- What every installation has from the start.
select leasehold.create_queue('default');
select leasehold.make_partitions();
