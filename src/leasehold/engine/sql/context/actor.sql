-- Who acts: as the application says (setting leasehold.actor), else the database login.
-- internal
create or replace function leasehold.actor() returns text
language sql stable as $$ select coalesce(nullif(current_setting('leasehold.actor', true), ''), session_user) $$;
