-- Of known postings, the mark of the list at which their text is still good; empty where it is to
-- be read again.
-- for: worker
create or replace function pack.list_marks(
  p_source uuid, p_ids text[], p_seconds double precision, p_all boolean
)
returns table (external_id text, mark text)
language sql stable
as $$
  select external_id, case
    when p_all or state = 'closed' then ''
    when detail_at < leasehold.now() - make_interval(secs => p_seconds) then ''
    else list_mark
  end
  from pack.posting
  where source_id = p_source and external_id = any(p_ids)
$$;
