"""What is a secret by its own shape: one line for each kind of token.

The beginning of a token is public and stays, for it says what the token was: ``ghp_[redacted]``.
"""

import base64
import json
import re
from collections.abc import Callable, Iterator
from functools import cache
from itertools import groupby
from typing import NamedTuple

from leasehold.redact.mask import Span
from leasehold.redact.values import UUID, X_RUN, is_user_and_password


class Format(NamedTuple):
    """``anchors`` are literal beginnings, ``body`` is what must follow, within bounds of its own."""

    anchors: str
    body: str
    remark: str
    made_up: bool = False  # the shape is strict enough to mask even xxxx
    check: Callable[[str], bool] | None = None


def _is_jwt(token: str) -> bool:
    header = token.split(".", 1)[0]
    try:
        return "alg" in json.loads(base64.urlsafe_b64decode(header + "=" * (-len(header) % 4)))
    except (ValueError, TypeError, RecursionError):
        return False


def _is_basic(credentials: str) -> bool:
    """Basic credentials; "basic authentication" is none."""
    return is_user_and_password(credentials.split()[-1])


def _has_digit(token: str) -> bool:
    return any(map(str.isdigit, token))


def _has_digit_and_small_letter(token: str) -> bool:
    return _has_digit(token) and not token.isupper()


def _is_no_identifier(token: str) -> bool:
    return _IDENTIFIER.fullmatch(token) is None


_IDENTIFIER = re.compile(r"AP(?:[A-F][a-z]{2,14})(?:[A-Z][a-z]{2,14}){1,6}")  # APFloatBase


def _is_mixed(token: str) -> bool:
    """Small letters, capitals and digits after the first eight characters, where the anchor ends."""
    body = token[8:]
    return not body.islower() and not body.isupper() and (_has_digit(body) or body.isalpha())


#: A body ends where its characters end: no token is cut in two.
FORMATS = (
    # clouds
    Format("AKIA|ASIA|ABIA|ACCA", r"[A-Z0-9]{16}", "AWS access key id", made_up=True),
    Format("A3T", r"[A-Z0-9][A-Z0-9]{16}", "AWS access key id, old", made_up=True),
    Format("ABSK", r"[A-Za-z0-9+/]{16,300}+={0,2}", "AWS Bedrock, long-lived", check=_has_digit),
    Format("bedrock-api-key-", r"[A-Za-z0-9+/=_-]{24,4000}+", "AWS Bedrock, short-lived"),
    Format("amzn.mws.", UUID, "Amazon MWS"),
    Format("AIza", r"[\w-]{35}", "Google API key"),
    Format("GOCSPX-", r"[\w-]{28}", "Google OAuth client secret"),
    Format("ya29.", r"[\w.-]{20,2000}+", "Google OAuth access token"),
    Format("1//0", r"[\w-]{30,300}+", "Google OAuth refresh token"),
    Format("dop_v1_|doo_v1_|dor_v1_", r"[0-9a-f]{64}", "DigitalOcean"),
    Format("LTAI", r"[A-Za-z0-9]{17,21}+", "Alibaba access key id"),
    Format("AKID", r"[A-Za-z0-9]{28,34}+", "Tencent secret id"),
    Format("api.softlayer.com/soap/v3/|api.softlayer.com/soap/v3.1/", r"[A-Za-z0-9]{64}", "SoftLayer"),
    Format("SCW", r"[A-Z0-9]{17}", "Scaleway access key", check=_has_digit),
    Format("AQVN", r"[\w-]{35,38}+", "Yandex API key", check=_has_digit),
    Format("y0_|t1.9eu", r"[\w.=-]{40,400}+", "Yandex OAuth, IAM"),
    Format("hvs.|hvb.|hvr.", r"[\w-]{24,300}+", "HashiCorp Vault", check=_has_digit),
    Format("s.", r"(?=[A-Za-z]{0,23}[0-9])(?=[0-9A-Z]{0,23}[a-z])[A-Za-z0-9]{24}", "HashiCorp Vault, old"),
    Format("pul-", r"[0-9a-f]{40}", "Pulumi"),
    Format("sha256~", r"[\w-]{43}", "OpenShift"),
    Format("tskey-", r"[a-z]{2,12}-[A-Za-z0-9]{6,40}-[A-Za-z0-9]{20,60}+", "Tailscale"),
    Format("FlyV1", r" fm\d[a-z]?_[A-Za-z0-9+/=,_]{80,4000}+", "Fly.io"),
    Format("fo1_", r"[\w-]{43}", "Fly.io"),
    Format("fm1r_|fm1a_|fm2_", r"[A-Za-z0-9+/]{80,2000}+={0,3}", "Fly.io"),
    Format("v1.0-", r"[0-9a-f]{24}-[0-9a-f]{140,160}+", "Cloudflare origin CA"),
    Format("HRKU-", r"(?:" + UUID + r"|AA[\w-]{58})", "Heroku"),
    Format("rnd_", r"[A-Za-z0-9]{28,40}+", "Render", check=_is_mixed),
    Format("tk-us-", r"[\w-]{48}", "Scalingo", check=_has_digit),
    Format("sbp_", r"[0-9a-f]{40}", "Supabase"),
    Format("sb_secret_", r"[\w-]{31,40}+", "Supabase", check=_has_digit),
    Format("napi_", r"[a-z0-9]{48,72}+", "Neon", check=_has_digit),
    Format("AVNS_", r"[\w-]{16,24}+", "Aiven", check=_is_mixed),
    Format("dapi|dose|dkea", r"[0-9a-f]{32}(?:-\d)?", "Databricks"),
    Format("dbtc_|dbtu_", r"[\w-]{36,60}+", "dbt Cloud", check=_has_digit),
    Format("dnkey-", r"[\w=-]{26}-[\w=-]{52}", "Defined Networking"),
    Format("dp.pt.|dp.st.|dp.ct.|dp.sa.|dp.scim.|dp.audit.", r"[a-z0-9._-]{0,36}[A-Za-z0-9]{40,44}+", "Doppler"),
    # code hosting and building
    Format("ghp_|gho_|ghu_|ghs_|ghr_", r"[A-Za-z0-9]{36,251}+", "GitHub"),
    Format("github_pat_", r"\w{82}", "GitHub, fine-grained"),
    Format("glpat-|gldt-|glrt-|glft-|glsoat-|glffct-", r"[\w-]{20}", "GitLab"),
    Format("glpat-|gldt-|glrt-|glft-|glsoat-", r"[\w-]{27,300}+\.[0-9a-z]{2}[0-9a-z.]{7,10}", "GitLab, routable"),
    Format("glcbt-", r"[0-9a-zA-Z]{1,5}_[\w-]{20}", "GitLab job"),
    Format("glimt-", r"[\w-]{25}", "GitLab mail"),
    Format("glptt-", r"[0-9a-zA-Z_-]{40}", "GitLab trigger"),
    Format("glagent-", r"[\w-]{50,1024}+", "GitLab agent"),
    Format("gloas-", r"[\w-]{64}", "GitLab OAuth"),
    Format("GR1348941", r"[\w-]{20,50}+", "GitLab runner registration"),
    Format("_gitlab_session=", r"[0-9a-z]{32}", "GitLab session"),
    Format("ATATT3|ATCTT3|ATBB|ATTA", r"[A-Za-z0-9_=-]{24,250}+", "Atlassian", check=_has_digit),
    Format("dckr_pat_|dckr_oat_", r"[\w-]{27,40}+", "Docker Hub"),
    Format("npm_", r"[A-Za-z0-9]{36}", "npm"),
    Format("pypi-AgEIcHlwaS5vcmc|pypi-AgENdGVzdC5weXBpLm9yZw", r"[\w-]{50,1000}+", "PyPI, TestPyPI"),
    Format("rubygems_", r"[0-9a-f]{48}", "RubyGems"),
    Format("CLOJARS_|clojars_", r"[0-9a-zA-Z]{60}", "Clojars"),
    Format("cio", r"[A-Za-z0-9]{32}", "crates.io", check=_has_digit),
    Format("oy2", r"[a-z0-9]{43}", "NuGet"),
    Format("sgp_", r"(?:(?:local|[0-9a-fA-F]{16})_)?[0-9a-fA-F]{40}", "Sourcegraph"),
    Format("AKC", r"[A-Za-z0-9]{10,80}+", "Artifactory key", made_up=True),
    Format("AP", r"[0-9A-F][A-Za-z0-9]{10,80}+", "Artifactory password", made_up=True, check=_is_no_identifier),
    Format("cmVmd", r"[A-Za-z0-9]{59}", "Artifactory reference token"),
    Format("API-", r"[A-Z0-9]{26}", "Octopus Deploy", check=_has_digit),
    Format("sqp_|squ_|sqa_", r"[0-9a-z]{40}", "SonarQube"),
    Format("CCIPAT_|CCIPRJ_", r"[A-Za-z0-9]{22}_[0-9a-f]{40}", "CircleCI"),
    Format("pat.|sat.", r"[\w-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}", "Harness"),
    Format("pnu_|pnb_", r"[A-Za-z0-9]{36}", "Prefect"),
    Format("PMAK-", r"[0-9a-f]{24}-[0-9a-f]{34}", "Postman"),
    Format("bkua_", r"[0-9a-f]{40}", "Buildkite"),
    Format("rdme_", r"[a-z0-9]{70}", "ReadMe"),
    Format("CFPAT-", r"[\w-]{43}", "Contentful"),
    Format("phc_|phx_", r"[A-Za-z0-9]{40,64}+", "PostHog"),
    Format("sntrys_", r"eyJ[A-Za-z0-9+/=_-]{80,700}+", "Sentry organisation"),
    Format("sntryu_", r"[0-9a-f]{64}", "Sentry user"),
    Format("nfp_|nfc_", r"[A-Za-z0-9]{36,44}+", "Netlify"),
    Format("lin_api_|lin_oauth_", r"[A-Za-z0-9]{40,64}+", "Linear"),
    Format("figd_", r"[\w-]{38,60}+", "Figma"),
    Format("tfp_", r"[\w.=-]{59}", "Typeform", check=_has_digit),
    Format("fio-u-", r"[\w=-]{64}", "Frame.io"),
    Format("ntn_", r"[0-9]{11}[A-Za-z0-9]{35}", "Notion"),
    Format("secret_", r"[A-Za-z0-9]{43}", "Notion, old", check=_has_digit),
    Format("pat", r"[A-Za-z0-9]{14}\.[0-9a-f]{64}", "Airtable"),
    Format("p8e-", r"[A-Za-z0-9_-]{32}", "Adobe client secret", check=_has_digit),
    Format("ops_eyJ", r"[A-Za-z0-9+/=_-]{200,4000}+", "1Password service account"),
    Format(
        "A3-",
        r"[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}",
        "1Password",
        False,
        _has_digit,
    ),
    Format(
        "sc_|ext_|scauth_|authress_", r"\w{5,30}\.\w{4,6}\.acc[_-][A-Za-z0-9-]{10,32}\.[\w+/=-]{30,120}+", "Authress"
    ),
    Format("s-s4t2ud-|s-s4t2af-", r"[0-9a-fA-F]{64}", "42 Intra"),
    Format("sm_aat_|sm_pat_|sm_sat_", r"[A-Za-z0-9]{16}", "SettleMint"),
    Format("AGE-SECRET-KEY-1", r"[0-9A-Z]{58}", "age"),
    Format("NRAK-", r"[A-Za-z0-9]{27}", "New Relic"),
    Format("NRJS-|NRII-", r"[A-Za-z0-9-]{19,32}+", "New Relic", check=_has_digit),
    Format("glc_", r"[A-Za-z0-9+/]{32,400}+={0,3}", "Grafana cloud", check=_is_mixed),
    Format("glsa_", r"[A-Za-z0-9]{32}_[0-9A-Fa-f]{8}", "Grafana service account"),
    Format("eyJrIjoi", r"[A-Za-z0-9]{60,400}+={0,3}", "Grafana, old"),
    Format("hcaik_", r"[a-z0-9]{58}", "Honeycomb"),
    Format("dt0c01.|dt0s01.", r"[A-Za-z0-9]{24}\.[A-Za-z0-9]{64}", "Dynatrace"),
    Format("EZAK|EZTK", r"[A-Za-z0-9]{54}", "EasyPost", check=_has_digit),
    Format("ico-", r"[A-Za-z0-9]{32}", "Infracost", check=lambda token: not token[4:].islower()),
    Format("4b1d", r"[A-Za-z0-9]{38}", "ClickHouse Cloud", check=_has_digit),
    Format("pscale_tkn_|pscale_oauth_|pscale_pw_", r"[\w=.-]{32,64}+", "PlanetScale"),
    Format("waka_", UUID, "WakaTime"),
    Format("lh_", r"[a-z]{2,8}_[A-Za-z0-9]{22}_[A-Za-z0-9]{49}", "a Leasehold key"),
    # models
    Format("sk-ant-", r"[a-z]{3,8}\d{2}-[\w-]{93}AA", "Anthropic"),
    Format("sk-", r"(?:[A-Za-z0-9]{1,8}-)?[\w-]{20,100}?T3BlbkFJ[\w-]{20,100}+", "OpenAI"),
    Format("sk-or-v1-|sk-", r"[0-9a-f]{32,64}+", "OpenRouter, DeepSeek"),
    Format("sk-", r"[A-Za-z0-9]{32,64}+", "many", check=_is_mixed),
    Format("pplx-", r"[A-Za-z0-9]{48}", "Perplexity"),
    Format("gsk_", r"[A-Za-z0-9]{52}", "Groq"),
    Format("xai-", r"[A-Za-z0-9]{70,90}+", "xAI"),
    Format("nvapi-", r"[\w-]{60,70}+", "NVIDIA"),
    Format("tvly-", r"(?:dev-|prod-)?[A-Za-z0-9]{32}", "Tavily", check=_has_digit),
    Format("pcsk_", r"[A-Za-z0-9_]{60,80}+", "Pinecone"),
    Format("lsv2_pt_|lsv2_sk_", r"[0-9a-f]{32}_[0-9a-f]{10}", "LangSmith"),
    Format("hf_|api_org_", r"[A-Za-z0-9]{34}", "Hugging Face", check=_is_mixed),
    Format("r8_", r"[A-Za-z0-9]{37}", "Replicate"),
    # money
    Format(
        "sk_live_|sk_test_|sk_prod_|rk_live_|rk_test_|rk_prod_", r"[A-Za-z0-9]{10,120}+", "Stripe", check=_has_digit
    ),
    Format("whsec_", r"[A-Za-z0-9+/]{24,100}+={0,2}", "webhook signing secret"),
    Format("sq0csp-", r"[\\\w-]{43}", "Square"),
    Format("sq0atp-", r"[\w-]{22,60}+", "Square"),
    Format("EAAA", r"(?:[\w-]{60}|[El][\w-]{21,59}+)", "Square", check=_has_digit),
    Format("EAA", r"[A-Za-z0-9]{20,400}+", "Facebook page token", check=_has_digit_and_small_letter),
    Format("shpat_|shpca_|shppa_|shpss_", r"[0-9a-fA-F]{32}", "Shopify"),
    Format("FLWSECK_TEST-|FLWSECK-|FLWPUBK_TEST-", r"[0-9a-h]{12,32}+(?:-X)?", "Flutterwave"),
    Format("rzp_live_|rzp_test_", r"[A-Za-z0-9]{14,24}+", "Razorpay"),
    Format("live_|test_", r"[\w=-]{35}", "GoCardless", check=_has_digit),
    Format("live_|test_", r"[\w=-]{40}", "GoCardless", check=_is_mixed),
    Format("access-sandbox-|access-development-|access-production-", UUID, "Plaid"),
    Format("access_token$production$", r"[0-9a-z]{16}\$[0-9a-f]{32}", "Braintree"),
    Format("duffel_test_|duffel_live_", r"[\w=-]{43}", "Duffel"),
    Format("shippo_live_|shippo_test_", r"[0-9a-fA-F]{40}", "Shippo"),
    # messages
    Format("xoxa|xoxb|xoxe|xoxo|xoxp|xoxr|xoxs", r"(?:-\d{1,21}){1,4}-[A-Za-z0-9-]{5,63}[A-Za-z0-9]", "Slack"),
    Format("xoxa-|xoxr-", r"[A-Za-z0-9]{8,48}+", "Slack, workspace", check=_has_digit),
    Format("xoxe.xoxb-|xoxe.xoxp-|xoxe-", r"\d-[A-Za-z0-9]{100,200}+", "Slack, rotating"),
    Format("xapp-", r"\d-[A-Za-z0-9]{1,20}-\d{1,20}-[a-z0-9]{7,100}+", "Slack app"),
    Format("hooks.slack.com/services/", r"T\w{8,12}/B\w{8,12}/\w{24}", "Slack webhook", made_up=True),
    Format("hooks.slack.com/services/", r"[A-Za-z0-9+/]{30,60}+", "Slack webhook"),
    Format("hooks.slack.com/workflows/|hooks.slack.com/triggers/", r"[A-Za-z0-9+/]{30,80}+", "Slack webhook"),
    Format("webhook.office.com/webhookb2/", r"[\w@-]{60,80}/IncomingWebhook/[\w/-]{60,120}+", "Teams webhook"),
    Format("discord.com/api/webhooks/|discordapp.com/api/webhooks/", r"\d{15,20}/[\w-]{60,70}+", "Discord webhook"),
    Format("hooks.zapier.com/hooks/catch/", r"\d{4,12}/[a-z0-9]{6,10}", "Zapier webhook"),
    Format("SG.", r"(?=[\w=-]{0,60}\d)[\w=.-]{66}", "SendGrid"),
    Format("xkeysib-|xsmtpsib-", r"[0-9a-f]{64}-[A-Za-z0-9]{16}", "Brevo"),
    Format("key-|pubkey-", r"[0-9a-f]{32}", "Mailgun"),
    Format("re_", r"[A-Za-z0-9]{8}_[A-Za-z0-9]{24}", "Resend", check=_has_digit),
    Format("AC|SK", r"(?:[0-9a-z]{32}|[0-9a-fA-F]{32})", "Twilio", made_up=True),
    Format("pat-na1-|pat-eu1-", UUID, "HubSpot"),
    Format("dG9rO", r"[A-Za-z0-9+/]{50,70}+={0,2}", "Intercom"),
    Format("secret-token:", r"[A-Za-z0-9._~!$&'()*+,;=:@%-]{8,200}+", "RFC 8959"),
    # hashes of passwords
    Format("$2a$|$2b$|$2y$", r"\d\d\$[./A-Za-z0-9]{53}", "bcrypt"),
    Format("$argon2id$|$argon2i$|$argon2d$|$scrypt$|$pbkdf2-", r"[./\w$=,+-]{40,300}+", "argon2, scrypt, PBKDF2"),
    Format("$1$|$5$|$6$|$y$|$apr1$", r"[./A-Za-z0-9=$]{1,60}\$[./A-Za-z0-9]{16,90}+", "crypt"),
    Format("pbkdf2_sha256$|pbkdf2_sha1$", r"\d{4,8}\$[\w+/=]{4,64}\$[A-Za-z0-9+/]{20,90}+=?", "Django"),
    Format("SCRAM-SHA-256$", r"\d{3,7}:[A-Za-z0-9+/=]{8,64}\$[A-Za-z0-9+/=:]{40,120}+", "PostgreSQL"),
    # private keys without their first line: PKCS#1, PKCS#8, SEC 1, OpenSSH; and with it, in base64
    Format(
        "MIIEpAIBAAKCAQEA|MIIEowIBAAKCAQEA|MIIJKQIBAAKCAgEA|MIICXAIBAAKBgQ", r"[A-Za-z0-9+/]{40,8000}+={0,2}", "RSA key"
    ),
    Format("MIIEvQIBADANBgkqhki|MIIEvAIBADANBgkqhki|MIGHAgEAMBMGByqGSM49", r"[A-Za-z0-9+/]{40,8000}+={0,2}", "key"),
    Format("MHcCAQEEI|b3BlbnNzaC1rZXktdjEA", r"[A-Za-z0-9+/]{40,8000}+={0,2}", "EC, OpenSSH key"),
    Format("LS0tLS1CRUdJTiBSU0Eg|LS0tLS1CRUdJTiBQUklW|LS0tLS1CRUdJTiBFQyBQ", r"[A-Za-z0-9+/]{40,9000}+={0,2}", "PEM"),
    Format("LS0tLS1CRUdJTiBPUEVO|LS0tLS1CRUdJTiBFTkNS|LS0tLS1CRUdJTiBEU0Eg", r"[A-Za-z0-9+/]{40,9000}+={0,2}", "PEM"),
    # anything signed
    Format("eyJ", r"[\w-]{8,1024}+(?:\.[\w-]{0,8192}+){1,4}", "JSON web token", check=_is_jwt),
    Format(
        "ZXlKaGJHY2lPaU|ZXlKMGVYQWlPaU|ZXlKcmFXUWlP", r"[A-Za-z0-9+/_-]{40,9000}+={0,2}", "JSON web token in base64"
    ),
    Format("Basic |basic ", r"[A-Za-z0-9+/]{6,400}+={0,2}", "Basic credentials", check=_is_basic),
    Format("Bearer |bearer |BEARER ", r"[A-Za-z0-9._~+/-]{16,4000}+=*", "Bearer token", check=_has_digit),
)


#: Shapes with the telling mark inside; each begins with a literal, which is searched quickly. The second figure is how
#: many characters before the mark are secret too.
INSIDE = (
    (r"Q~(?<=(?<![\w~.])[\w~.]{3}\dQ~)[\w~.-]{31,34}+(?![\w~.-])", 4),  # Azure client secret
    (r"-us(?<=(?<!\w)[0-9a-f]{32}-us)[0-9]{1,2}+(?!\w)", 32),  # Mailchimp: key, data centre
    (r"\|(?<=\d{15}\|)[\w-]{27,40}+(?![\w-])", 0),  # Facebook application: number|secret
    (r":A(?<=\d{8}:A)[\w-]{34}(?![\w-])", 0),  # Telegram bot: number:secret
    (r"\.(?<=[\w-]{23}\.)[\w-]{6}\.(?=[\w-]{0,26}\d)[\w-]{27,38}+(?![\w-])", 0),  # Discord bot: id.time.signature
    (r"\.atlasv1\.(?<=[A-Za-z0-9]{14}\.atlasv1\.)[\w=-]{60,70}+", 14),  # Terraform Cloud
    (r"_mmk(?<=(?<![A-Za-z0-9])[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk)(?!\w)", 36),  # MaxMind
    (r"JQQJ99(?<=\w{52}JQQJ99)\w{26}(?!\w)", 52),  # Azure, keys since 2024
)
_INSIDE = [(re.compile(pattern, re.ASCII), back) for pattern, back in INSIDE]

_START = r"(?:(?<![A-Za-z0-9])|(?<=%[0-9A-F]{2})|(?<=\\[nrt]))"
_END = r"(?![A-Za-z0-9_-])"
_ANCHORS = sorted(
    {anchor for row in FORMATS for anchor in row.anchors.split("|")}, key=lambda each: (each[0], -len(each))
)


def _any_anchor() -> str:
    """One branch for each first letter: most places are left after a single look."""
    branches = [
        (first, [re.escape(each[1:]) for each in some]) for first, some in groupby(_ANCHORS, lambda each: each[0])
    ]
    return "|".join(f"{re.escape(first)}(?:{'|'.join(rest)})" for first, rest in branches)


_ANCHOR = re.compile(f"(?=[{re.escape(''.join(sorted({each[0] for each in _ANCHORS})))}]){_START}(?:{_any_anchor()})")


@cache
def _to_try(found: str) -> list[tuple[int, re.Pattern[str], Format]]:
    """What to try at an anchor: its own rows, then those of every shorter anchor it begins with.

    Compiled when the anchor is met for the first time: all of them take longer than most commands.
    """
    return [
        (len(anchor), re.compile(row.body + _END, re.ASCII), row)
        for anchor in sorted(_ANCHORS, key=len, reverse=True)
        if found.startswith(anchor)
        for row in FORMATS
        if anchor in row.anchors.split("|")
    ]


#: Every format has such a run in it; ordinary words of that length are told apart by being lower case.
_RUN = re.compile(r"[A-Za-z0-9_+/-]{11,}+")
_BEFORE_RUN = 40


def format_spans(text: str) -> Iterator[Span]:
    done = 0
    digits = False
    for run in _RUN.finditer(text):
        word = run.group()
        if word[1:].islower() and word.replace("-", "").replace("_", "").replace("/", "").isalpha():
            continue
        digits = True
        for anchor in _ANCHOR.finditer(text, max(done, run.start() - _BEFORE_RUN), run.end()):
            if anchor.start() >= done and (span := _format_span(text, anchor)):
                yield span
                done = span[1]
        done = max(done, run.end())
    if digits:
        for pattern, back in _INSIDE:
            yield from (
                (match.start() - back, match.end())
                for match in pattern.finditer(text)
                if not X_RUN.search(match.group())
            )


def _format_span(text: str, anchor: re.Match[str]) -> Span | None:
    if anchor.group().isalnum() and anchor.start() and text[anchor.start() - 1] in "+/":
        return None  # in the middle of base64
    for length, body, row in _to_try(anchor.group()):
        match = body.match(text, anchor.start() + length)
        if match and (row.made_up or not _is_made_up(match.group())):
            token = text[anchor.start() : match.end()]
            if row.check is None or row.check(token):
                return match.span()
    return None


def _is_made_up(body: str) -> bool:
    return bool(X_RUN.search(body)) or len(set(body)) < 6
