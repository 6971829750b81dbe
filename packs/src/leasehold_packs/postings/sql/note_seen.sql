-- Postings that a list has, and those of them whose text was read again and is the same
-- (refreshed).
-- for: worker
create or replace function pack.note_seen(p_seen uuid[], p_refreshed jsonb) returns void
language sql
as $$
  update pack.posting set
    last_seen = leasehold.now(), missing = 0, held = false,
    state = case state when 'suspect' then 'open' else state end
  where posting_id = any(p_seen);
  update pack.posting p set list_mark = r.list_mark, digest = r.digest, detail_at = leasehold.now()
  from jsonb_populate_recordset(null::pack.posting, p_refreshed) r
  where p.posting_id = r.posting_id;
$$;
