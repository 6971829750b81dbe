"""What audits, monitors and postings read out of web pages: bytes in, typed facts out. Pure: no socket, no database.

Any page     decode (bytes to text)   url_key (which URLs are one page)   page (what a page says about itself)
             robots_meta   language   structured (JSON-LD, microdata, Open Graph)   sitemap
             tame (what would keep a parser busy is left out)   selectors (those that people give)
Products     product (the ladder), whose rungs are schema_product, hydration, dom_price, dom_stock and dom_code;
             dom_names (which elements those look at);
             shop_feed (products told in JSON); money, currency, gtin, availability, shop_words (data)
Changes      change (which rung says "unchanged")   simhash (a hint, never a verdict)
Provenance   fact (a value, where it was found, how, and how sure we are)
"""
