"""The outside world: the only place that opens a connection to a host a tenant has named. Knows no database.

urls       what a URL says, by one parser           fetch      requests: the way in
address    which addresses are public               redirects  the request, and what becomes of it on its way
policy     what the operator allows and denies      exchange   the deadline, and our words for what goes wrong
dial       resolve once, judge, connect to that     answer     what comes back
meter      how much may be read from the wire       decode     bounded decompression
robots     what a site asks of programs             signature  signing and checking of webhooks
"""
