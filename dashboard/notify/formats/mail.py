"""A message as an e-mail: plain text and HTML, by Django's mail, which refuses line breaks in headers."""

import smtplib

from django.conf import settings
from django.core.mail import EmailMultiAlternatives
from django.template.loader import render_to_string

from dashboard.notify.formats.message import Message
from dashboard.notify.safe_http import Refused, Unreachable


def mail_is_set() -> bool:
    """Whether whoever runs Flakeboard told it a mail server."""
    return bool(settings.EMAIL_HOST)


def mail_send(message: Message, recipient: str, delivery: str) -> None:
    """Send it, or raise Refused or Unreachable."""
    if not mail_is_set():
        raise Refused("Flakeboard has no mail server: whoever runs it can set EMAIL_URL.")
    mail = EmailMultiAlternatives(
        subject=f"[{message.project}] {message.title}"[:200],
        body=render_to_string("mail/message.txt", {"message": message}),
        to=[recipient],
        headers={"X-Flakeboard-Delivery": delivery, "Auto-Submitted": "auto-generated"},
    )
    mail.attach_alternative(render_to_string("mail/message.html", {"message": message}), "text/html")
    try:
        mail.send()
    except smtplib.SMTPResponseException as error:
        raise _refusal(error.smtp_code) from error
    except smtplib.SMTPRecipientsRefused as error:
        raise _refusal(max(code for code, _ in error.recipients.values())) from error
    except (smtplib.SMTPException, OSError) as error:
        raise Unreachable(f"The mail server cannot be reached: {type(error).__name__}.") from error


def _refusal(code: int) -> Refused | Unreachable:
    """5xx is for ever; 4xx may be better later."""
    sentence = f"The mail server answered {code}."
    return Refused(sentence) if code >= 500 else Unreachable(sentence)
