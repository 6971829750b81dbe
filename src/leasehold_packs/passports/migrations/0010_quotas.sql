-- How many a tenant may have.
insert into leasehold.quota (what, most) values
  ('passports.invitations', 10000),
  ('passports.packages', 500)
on conflict do nothing;
create trigger quota after insert on pack.invitation referencing new table as made
  for each statement execute function leasehold.keep_quota('passports.invitations');
create trigger quota after insert on pack.rule_package referencing new table as made
  for each statement execute function leasehold.keep_quota('passports.packages');
