-- How many a tenant may have, whoever of it makes them.
insert into leasehold.quota (what, most) values
  ('postings.searches', 500),
  ('postings.sources', 500)
on conflict do nothing;
create trigger quota after insert on pack.search referencing new table as made
  for each statement execute function leasehold.keep_quota('postings.searches');
create trigger quota after insert on pack.source referencing new table as made
  for each statement execute function leasehold.keep_quota('postings.sources');
