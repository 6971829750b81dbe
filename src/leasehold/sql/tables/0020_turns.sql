-- A job that lines up in a group keeps its turn: whoever rings for it does so there, or right behind the clock where the turn
-- has passed. Without it, a tenant with many groups would always be next. Null: lined up by an older release.

alter table leasehold.blocked add column pass bigint;

drop function if exists leasehold.open_gates(tid[], integer, bigint);  -- it returned what nobody needs any more
