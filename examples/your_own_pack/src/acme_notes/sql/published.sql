-- What strangers may see. It is above row security, so it says itself which rows these are.
-- for: api
create or replace function pack.published(p_job_id uuid) returns text
language sql stable security definer
as $$ select text from pack.note where job_id = p_job_id and public $$;
