-- How many a tenant may have.
insert into leasehold.quota (what, most) values
  ('audits.sites', 500)
on conflict do nothing;
create trigger quota after insert on pack.site referencing new table as made
  for each statement execute function leasehold.keep_quota('audits.sites');
