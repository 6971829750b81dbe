-- Put a posting on the board of a person, or move it; each stage knows since when. Null if there is
-- no such posting.
-- for: api, worker
create or replace function pack.put_application(
  p_tenant uuid, p_owner text, p_posting uuid, p_stage text, p_note text, p_due date
) returns uuid
language plpgsql
as $$
declare
  v_application uuid;
begin
  insert into pack.application (tenant_id, owner, posting_id, stage, note, due)
  select p_tenant, p_owner, p.posting_id, p_stage, p_note, p_due from pack.posting p
  where p.posting_id = p_posting
  on conflict (tenant_id, owner, posting_id) do update
  set stage = excluded.stage, note = excluded.note, due = excluded.due
  returning application_id into v_application;
  if v_application is not null then
    insert into pack.application_stage (application_id, n, tenant_id, stage)
    select v_application, coalesce(max(s.n), 0) + 1, p_tenant, p_stage
    from pack.application_stage s
    where s.application_id = v_application
    having coalesce((array_agg(s.stage order by s.n desc))[1], '') <> p_stage;
  end if;
  return v_application;
end
$$;
