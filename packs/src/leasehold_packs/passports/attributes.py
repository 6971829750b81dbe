"""What the passport of a battery must say, to whom, and how much of it a set of facts has.

The list is that of the Battery Pass consortium, version 1.2 (CC-BY-4.0), for DIN DKE SPEC 99100; its pointers are
those of the Battery Pass data model 1.2, whose spelling is kept. The tiers are the four points of Annex XIII of the
Regulation (EU) 2023/1542. It is a guide, not the law: what a category must say is for its maker to know.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from leasehold_packs.passports.pointers import Leaf, matching


class Tier(StrEnum):
    """Who may see a field: points 1 to 4 of Annex XIII."""

    PUBLIC = "public"
    LEGITIMATE_INTEREST = "legitimate_interest"
    AUTHORITY = "authority"
    INDIVIDUAL = "individual"


class Reader(StrEnum):
    PUBLIC = "public"
    LEGITIMATE_INTEREST = "legitimate_interest"
    AUTHORITY = "authority"
    OWNER = "owner"

    @property
    def tiers(self) -> frozenset[Tier]:
        return _SEES[self]


#: Article 77(2): authorities see points 2 and 3, persons with a legitimate interest see points 2 and 4.
_SEES = {
    Reader.PUBLIC: frozenset({Tier.PUBLIC}),
    Reader.LEGITIMATE_INTEREST: frozenset({Tier.PUBLIC, Tier.LEGITIMATE_INTEREST, Tier.INDIVIDUAL}),
    Reader.AUTHORITY: frozenset({Tier.PUBLIC, Tier.LEGITIMATE_INTEREST, Tier.AUTHORITY}),
    Reader.OWNER: frozenset(Tier),
}


class Category(StrEnum):
    """The categories that need a passport, in the order of the marks below."""

    EV = "ev"
    LMT = "lmt"
    INDUSTRIAL = "industrial"
    STATIONARY = "stationary"


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribute:
    """``marks`` has a letter for each category: x must be there, o may be, - does not apply."""

    number: int
    name: str
    at: tuple[str, ...]
    marks: str
    tier: Tier
    unit: str | None = None

    def required(self, category: Category) -> bool:
        return self._mark(category) == "x"

    def applies(self, category: Category) -> bool:
        return self._mark(category) != "-"

    def _mark(self, category: Category) -> str:
        return self.marks[list(Category).index(category)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Completeness:
    """How far the facts of a battery are. ``share`` is of what is required, in percent, rounded down."""

    present: tuple[Attribute, ...]
    missing: tuple[Attribute, ...]
    voluntary: tuple[Attribute, ...]

    @property
    def share(self) -> int:
        return 100 * len(self.present) // (len(self.present) + len(self.missing))


def completeness(category: Category, facts: Mapping[str, Leaf]) -> Completeness:
    """What of the required is there, what is missing, and what is there beyond it. An empty value is not there."""
    filled = {pointer: value for pointer, value in facts.items() if value not in (None, "", [], {})}
    there = {attribute.number for attribute in ATTRIBUTES if any(matching(at, filled) for at in attribute.at)}
    required = [attribute for attribute in ATTRIBUTES if attribute.required(category)]
    return Completeness(
        present=tuple(attribute for attribute in required if attribute.number in there),
        missing=tuple(attribute for attribute in required if attribute.number not in there),
        voluntary=tuple(
            attribute
            for attribute in ATTRIBUTES
            if attribute.number in there and attribute.applies(category) and not attribute.required(category)
        ),
    )


def battery_pass_rules(category: Category) -> dict[str, Any]:
    """A rule package that copies what the list knows for this category, each into its tier, and nothing else."""
    copies = [
        {"at": at, "tier": str(attribute.tier), **({"unit": attribute.unit} if attribute.unit else {})}
        for attribute in ATTRIBUTES
        if attribute.applies(category)
        for at in attribute.at
    ]
    around = [{"at": at, "tier": str(Tier.PUBLIC)} for at in _AROUND]
    return {
        "format": "leasehold-rules/1",
        "name": f"Battery Pass 1.2, {category}",
        "version": "1",
        "copies": copies + around,
    }


_GENERAL = "/generalProductInformation"
_LABELS = "/labels"
_CARBON = "/carbonFootprint"
_DILIGENCE = "/supplyChainDueDiligence"
_MATERIAL = "/materialComposition"
_CIRCULARITY = "/circularity"
_TECHNICAL = "/performance/batteryTechicalProperties"
_CONDITION = "/performance/batteryCondition"
_STAGE = f"{_CARBON}/carbonFootprintPerLifecycleStage"
_RECYCLED = f"{_CIRCULARITY}/recycledContent"
_MATERIALS = f"{_MATERIAL}/batteryMaterials"

#: Elements of lists that attributes choose from: their other members, such as the name of the stage, come along.
_AROUND = (_STAGE, _RECYCLED, f"{_LABELS}/labels")


def _label(subject: str) -> str:
    return f"{_LABELS}/labels/[labelingSubject={subject}]"


def _stage(name: str) -> str:
    return f"{_STAGE}/[lifecycleStage={name}]/carbonFootprint"


def _recycled(material: str, share: str) -> str:
    return f"{_RECYCLED}/[recycledMaterial={material}]/{share}"


_P, _L, _A, _I = Tier.PUBLIC, Tier.LEGITIMATE_INTEREST, Tier.AUTHORITY, Tier.INDIVIDUAL
_TABLE: list[tuple[str, str, Tier, str | None, tuple[str, ...]]] = [
    ("Battery passport identifier", "xxxx", _P, None, (f"{_GENERAL}/batteryPassportIdentifier",)),
    ("Battery identifier", "xxxx", _P, None, (f"{_GENERAL}/productIdentifier",)),
    ("Operator", "oooo", _P, None, (f"{_GENERAL}/operatorInformation",)),
    ("Manufacturer", "xxxx", _P, None, (f"{_GENERAL}/manufacturerInformation",)),
    ("Manufacturing place", "xxxx", _P, None, (f"{_GENERAL}/manufacturingPlace",)),
    ("Manufacturing date", "xxxx", _P, None, (f"{_GENERAL}/manufacturingDate",)),
    ("Date of putting into service", "-x-x", _I, None, (f"{_GENERAL}/puttingIntoService",)),
    ("Warranty period", "xxxx", _P, None, (f"{_GENERAL}/warrentyPeriod",)),
    ("Battery category", "xxxx", _P, None, (f"{_GENERAL}/batteryCategory",)),
    ("Battery mass", "xxxx", _P, "kg", (f"{_GENERAL}/batteryMass",)),
    ("Battery status", "xxxx", _I, None, (f"{_GENERAL}/batteryStatus",)),
    ("Separate collection symbol", "xxxx", _P, None, (f"{_label('SeparateCollection')}/labelingSymbol",)),
    ("Symbols for cadmium and lead", "xxxx", _P, None, (f"{_label('HazardousMaterial')}/labelingSymbol",)),
    ("Carbon footprint label", "oooo", _P, None, (f"{_label('CarbonFootPrint')}/labelingSymbol",)),
    (
        "Extinguishing agent",
        "xxxx",
        _P,
        None,
        (f"{_CIRCULARITY}/safetyMeasures/extinguishingAgent", f"{_label('ExtinguishingAgent')}/labelingSymbol"),
    ),
    ("Meaning of labels and symbols", "xxxx", _P, None, (f"{_LABELS}/labels/*/labelingMeaning",)),
    ("EU declaration of conformity", "xxxx", _P, None, (f"{_LABELS}/declarationOfConformity",)),
    ("Results of test reports", "xxxx", _A, None, (f"{_LABELS}/resultOfTestReport",)),
    ("Carbon footprint per functional unit", "xxxx", _P, "kg CO2e/kWh", (f"{_CARBON}/batteryCarbonFootprint",)),
    ("Footprint of raw material acquisition", "xxxx", _P, None, (_stage("RawMaterialExtraction"),)),
    ("Footprint of main production", "xxxx", _P, None, (_stage("MainProduction"),)),
    ("Footprint of distribution", "xxxx", _P, None, (_stage("Distribution"),)),
    ("Footprint of end of life and recycling", "xxxx", _P, None, (_stage("Recycling"),)),
    ("Carbon footprint performance class", "xxxx", _P, None, (f"{_CARBON}/carbonFootprintPerformanceClass",)),
    ("Public carbon footprint study", "xxxx", _P, None, (f"{_CARBON}/carbonFootprintStudy",)),
    ("Battery and manufacturer of the footprint", "xxxx", _P, None, (f"{_GENERAL}/manufacturerInformation",)),
    ("Absolute carbon footprint", "oooo", _P, None, (f"{_CARBON}/absoluteCarbonFootprint",)),
    ("Due diligence report", "xxxx", _P, None, (f"{_DILIGENCE}/supplyChainDueDiligenceReport",)),
    ("Third party assurances", "oooo", _P, None, (f"{_DILIGENCE}/thirdPartyAussurances",)),
    ("Supply chain indices", "oooo", _P, None, (f"{_DILIGENCE}/supplyChainIndicies",)),
    ("Battery chemistry", "xxxx", _P, None, (f"{_MATERIAL}/batteryChemistry",)),
    (
        "Critical raw materials",
        "xxxx",
        _P,
        None,
        (
            f"{_MATERIALS}/[isCriticalRawMaterial=true]/batteryMaterialName",
            f"{_MATERIALS}/[isCriticalRawMaterial=true]/isCriticalRawMaterial",
        ),
    ),
    ("Materials of cathode, anode and electrolyte", "xxxx", _L, None, (_MATERIALS,)),
    ("Hazardous substances", "xxxx", _P, None, (f"{_MATERIAL}/hazardousSubstances",)),
    (
        "Impact of substances",
        "xxxx",
        _P,
        None,
        (f"{_MATERIAL}/hazardousSubstances/*/hazardousSubstanceImpact",),
    ),
    ("Manuals for dismantling", "xxxx", _L, None, (f"{_CIRCULARITY}/dismantlingAndRemovalInformation",)),
    ("Part numbers of components", "xxxx", _L, None, (f"{_CIRCULARITY}/sparePartSources/*/components",)),
    ("Sources of spare parts", "xxxx", _L, None, (f"{_CIRCULARITY}/sparePartSources",)),
    ("Safety measures", "xxxx", _L, None, (f"{_CIRCULARITY}/safetyMeasures",)),
    ("Pre-consumer recycled nickel", "xxxx", _P, "%", (_recycled("Nickel", "preConsumerShare"),)),
    ("Pre-consumer recycled cobalt", "xxxx", _P, "%", (_recycled("Cobalt", "preConsumerShare"),)),
    ("Pre-consumer recycled lithium", "xxxx", _P, "%", (_recycled("Lithium", "preConsumerShare"),)),
    ("Pre-consumer recycled lead", "xxxx", _P, "%", (_recycled("Lead", "preConsumerShare"),)),
    ("Post-consumer recycled nickel", "xxxx", _P, "%", (_recycled("Nickel", "postConsumerShare"),)),
    ("Post-consumer recycled cobalt", "xxxx", _P, "%", (_recycled("Cobalt", "postConsumerShare"),)),
    ("Post-consumer recycled lithium", "xxxx", _P, "%", (_recycled("Lithium", "postConsumerShare"),)),
    ("Post-consumer recycled lead", "xxxx", _P, "%", (_recycled("Lead", "postConsumerShare"),)),
    ("Renewable content", "xxxx", _P, "%", (f"{_CIRCULARITY}/renewableContent",)),
    ("End users and waste prevention", "xxxx", _P, None, (f"{_CIRCULARITY}/endOfLifeInformation/wastePrevention",)),
    (
        "End users and separate collection",
        "xxxx",
        _P,
        None,
        (f"{_CIRCULARITY}/endOfLifeInformation/separateCollection",),
    ),
    (
        "Collection, second life and treatment",
        "xxxx",
        _P,
        None,
        (f"{_CIRCULARITY}/endOfLifeInformation/informationOnCollection",),
    ),
    ("Rated capacity", "xxxx", _P, "Ah", (f"{_TECHNICAL}/ratedCapacity",)),
    ("Remaining capacity", "oxox", _I, None, (f"{_CONDITION}/remainingCapacity",)),
    ("Capacity fade", "xxxx", _I, None, (f"{_CONDITION}/capacityFade",)),
    ("Certified usable battery energy", "o---", _P, "kWh", (f"{_TECHNICAL}/ratedEnergy",)),
    ("Remaining usable battery energy", "o---", _I, None, (f"{_CONDITION}/remainingEnergy",)),
    ("State of certified energy", "x---", _I, None, (f"{_CONDITION}/stateOfCertifiedEnergy",)),
    ("State of charge", "xxxx", _I, None, (f"{_CONDITION}/stateOfCharge",)),
    ("Minimum voltage", "xxxx", _P, "V", (f"{_TECHNICAL}/minimumVoltage",)),
    ("Maximum voltage", "xxxx", _P, "V", (f"{_TECHNICAL}/maximumVoltage",)),
    ("Nominal voltage", "xxxx", _P, "V", (f"{_TECHNICAL}/nominalVoltage",)),
    ("Original power capability", "xxxx", _P, None, (f"{_TECHNICAL}/originalPowerCapability",)),
    ("Remaining power capability", "oxox", _I, None, (f"{_CONDITION}/remainingPowerCapability",)),
    ("Power fade", "xxxx", _I, "%", (f"{_TECHNICAL}/powerFade", f"{_CONDITION}/powerFade")),
    ("Maximum permitted power", "xxxx", _P, None, (f"{_TECHNICAL}/ratedMaximumPower",)),
    ("Ratio of power and energy", "oooo", _P, None, (f"{_TECHNICAL}/powerCapabilityRatio",)),
    ("Initial round trip efficiency", "xxxx", _P, "%", (f"{_TECHNICAL}/roundtripEfficiency",)),
    (
        "Round trip efficiency at half of cycle life",
        "xxxx",
        _P,
        "%",
        (
            f"{_TECHNICAL}/roundTripEfficiencyat50PerCentCycleLife",
            f"{_CONDITION}/roundTripEfficiencyat50PerCentCycleLife",
        ),
    ),
    ("Remaining round trip efficiency", "-x-x", _I, None, (f"{_CONDITION}/remainingRoundTripEnergyEfficiency",)),
    (
        "Round trip efficiency fade",
        "xxxx",
        _I,
        "%",
        (f"{_TECHNICAL}/roundTripEfficiencyFade", f"{_CONDITION}/roundTripEfficiencyFade"),
    ),
    ("Initial self-discharge", "-o-o", _I, None, (f"{_TECHNICAL}/initialSelfDischarge",)),
    ("Current self-discharge", "-o-o", _I, None, (f"{_CONDITION}/currentSelfDischargingRate",)),
    ("Evolution of self-discharge", "---x", _I, None, (f"{_CONDITION}/evolutionOfSelfDischarge",)),
    ("Initial internal resistance", "xxxx", _P, None, (f"{_TECHNICAL}/initialInternalResistance",)),
    ("Internal resistance increase", "xxxx", _I, None, (f"{_CONDITION}/internalResistanceIncrease",)),
    ("Expected lifetime in years", "xxxx", _I, "years", (f"{_TECHNICAL}/expectedLifetime",)),
    ("Expected lifetime in cycles", "xxxx", _P, "cycles", (f"{_TECHNICAL}/expectedNumberOfCycles",)),
    ("Number of full cycles", "xxxx", _I, None, (f"{_CONDITION}/numberOfFullCycles",)),
    ("Cycle-life reference test", "xxxx", _P, None, (f"{_TECHNICAL}/lifetimeReferenceTest",)),
    (
        "C-rate of the cycle-life test",
        "xxxx",
        _P,
        None,
        (f"{_TECHNICAL}/cRateLifeCycleTest", f"{_TECHNICAL}/cRate"),
    ),
    ("Energy throughput", "-x-x", _I, None, (f"{_CONDITION}/energyThroughput",)),
    ("Capacity throughput", "-x-x", _I, None, (f"{_CONDITION}/capacityThroughput",)),
    ("Capacity threshold for exhaustion", "x---", _P, "%", (f"{_TECHNICAL}/capacityThresholdForExhaustion",)),
    ("Temperature information", "xxxx", _I, None, (f"{_CONDITION}/temperatureInformation",)),
    ("Lower temperature when idle", "xxxx", _P, None, (f"{_TECHNICAL}/temperatureRangeIdleState",)),
    ("Upper temperature when idle", "xxxx", _P, None, (f"{_TECHNICAL}/temperatureRangeIdleState",)),
    (
        "Time above the temperature range",
        "-xxx",
        _I,
        None,
        (f"{_CONDITION}/temperatureInformation/timeExtremeHighTemp",),
    ),
    (
        "Time below the temperature range",
        "-xxx",
        _I,
        None,
        (f"{_CONDITION}/temperatureInformation/timeExtremeLowTemp",),
    ),
    (
        "Time charging above the temperature range",
        "-xxx",
        _I,
        None,
        (f"{_CONDITION}/temperatureInformation/timeExtremeHighTempCharging",),
    ),
    (
        "Time charging below the temperature range",
        "-xxx",
        _I,
        None,
        (f"{_CONDITION}/temperatureInformation/timeExtremeLowTempCharging",),
    ),
    ("Number of deep discharges", "oxox", _I, None, (f"{_CONDITION}/numberOfDeepDischargeEvents",)),
    ("Number of overcharges", "oooo", _I, None, (f"{_CONDITION}/numberOfOverchargeEvents",)),
    ("Accidents", "xxxx", _I, None, (f"{_CONDITION}/negativeEvents",)),
]

ATTRIBUTES = tuple(
    Attribute(number=number, name=name, marks=marks, tier=tier, unit=unit, at=at)
    for number, (name, marks, tier, unit, at) in enumerate(_TABLE, start=1)
)
