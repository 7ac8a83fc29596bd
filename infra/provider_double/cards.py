"""The test payment methods that the double knows, and what a charge on each of them does."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Decline:
    code: str
    decline_code: str
    message: str


PAYMENT_METHODS: dict[str, Decline | None] = {
    "pm_card_visa": None,
    "pm_card_chargeDeclined": Decline("card_declined", "generic_decline", "Your card was declined."),
    "pm_card_chargeDeclinedInsufficientFunds": Decline(
        "card_declined", "insufficient_funds", "Your card has insufficient funds."
    ),
}
