-- How many a tenant may have.
insert into leasehold.quota (what, most) values
  ('monitors.sites', 200),
  ('monitors.products', 50000),
  ('monitors.rules', 1000)
on conflict do nothing;
create trigger quota after insert on pack.site referencing new table as made
  for each statement execute function leasehold.keep_quota('monitors.sites');
create trigger quota after insert on pack.product referencing new table as made
  for each statement execute function leasehold.keep_quota('monitors.products');
create trigger quota after insert on pack.rule referencing new table as made
  for each statement execute function leasehold.keep_quota('monitors.rules');
