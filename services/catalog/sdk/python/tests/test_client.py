"""Tests the client against a server that gives prepared answers."""

import base64
import hashlib
import hmac
import http.server
import json
import threading
import unittest

from slotmesh import ConnectionFailed, Slotmesh, SlotmeshError, WebhookError, outcome_unknown, read_webhook

ORDER = {"service_ids": ["s1"], "date": "2027-03-01", "time": "10:00", "customer_name": "Ada", "customer_email": "ada@example.com"}
MADE = (201, {"Idempotent-Replayed": "true"}, '{"success": true, "booking": {"id": "b1"}, "paymentRequired": false}')
BROKEN = (0, {}, "")


def refuse(status, code, seconds=None):
    headers = {"traceparent": "00-1-2-03"} | ({"Retry-After": str(seconds)} if seconds else {})
    return status, headers, json.dumps({"error": "A sentence.", "messageCode": code})


class Waiting(Slotmesh):
    """A client that records pauses instead of waiting."""

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        self.pauses = []

    def _wait(self, seconds):
        self.pauses.append(seconds)


class ClientTest(unittest.TestCase):
    def serve(self, *answers, **options):
        """Returns a client of a server with these answers, and the list of its requests."""
        asked, left = [], list(answers)

        class Handler(http.server.BaseHTTPRequestHandler):
            def answer(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                asked.append((self.command, self.path, self.headers, body))
                status, headers, text = left.pop(0)
                if status == 0:
                    self.connection.close()
                    return
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(text.encode())

            do_GET = do_POST = answer

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        address = f"http://127.0.0.1:{server.server_port}"
        return Waiting(address, "harbor-studio", "sm_1", **options), asked

    def test_booking_is_repeated_under_its_key(self):
        client, asked = self.serve(BROKEN, refuse(503, "outcome_unknown", 7), refuse(409, "idempotency_in_progress", 2), MADE)
        made, replayed = client.book(ORDER)
        self.assertEqual((made["booking"]["id"], replayed, len(asked)), ("b1", True, 4))
        self.assertEqual(client.pauses[1:], [7, 2])
        self.assertTrue(0.125 <= client.pauses[0] <= 0.25)
        for _, path, headers, body in asked:
            self.assertEqual(path, "/api/public/harbor-studio/book")
            self.assertEqual(headers["Idempotency-Key"], asked[0][2]["Idempotency-Key"])
            self.assertEqual((headers["Authorization"], json.loads(body)), ("Bearer sm_1", ORDER))

    def test_final_refusals_are_not_repeated(self):
        for status, code in ((409, "slot_unavailable"), (401, "invalid_api_key"), (400, "invalid_parameter"), (500, "internal")):
            client, asked = self.serve(refuse(status, code))
            with self.assertRaises(SlotmeshError) as raised:
                client.book(ORDER, idempotency_key="mine")
            error = raised.exception
            self.assertEqual((error.status, error.code, str(error), error.trace), (status, code, "A sentence.", "00-1-2-03"))
            self.assertFalse(outcome_unknown(error))
            self.assertEqual([headers["Idempotency-Key"] for _, _, headers, _ in asked], ["mine"])

    def test_pauses_have_limits(self):
        for seconds, options in ((20, {"timeout": 10}), (3600, {})):
            client, _ = self.serve(refuse(503, "service_unavailable", seconds), **options)
            with self.assertRaises(SlotmeshError) as raised:
                client.info()
            self.assertEqual((raised.exception.retry_after, client.pauses), (seconds, []))

    def test_last_error_is_raised(self):
        client, asked = self.serve(*[(502, {}, "<html>Bad gateway</html>")] * 4)
        with self.assertRaises(SlotmeshError) as raised:
            client.book(ORDER)
        self.assertEqual((raised.exception.code, outcome_unknown(raised.exception), len(asked)), ("", True, 4))
        client, asked = self.serve(BROKEN, retries=0)
        with self.assertRaises(ConnectionFailed) as failed:
            client.info()
        self.assertTrue(outcome_unknown(failed.exception))

    def test_outcome_is_unknown_after_success_without_confirmation(self):
        for status, unknown in ((200, True), (201, True), (302, False), (404, False)):
            client, _ = self.serve((status, {}, "<html>Welcome</html>"))
            with self.assertRaises(SlotmeshError) as raised:
                client.book(ORDER)
            self.assertEqual((raised.exception.code, outcome_unknown(raised.exception)), ("", unknown), status)

    def test_reads_send_no_key(self):
        client, asked = self.serve((200, {}, "{}"))
        client.slots("2027-03-01", ["a", "b"], is_package=True)
        _, path, headers, _ = asked[0]
        self.assertEqual(path, "/api/public/harbor-studio/slots?date=2027-03-01&service_id=a%2Cb&is_package=true")
        self.assertNotIn("Authorization", headers)

    def test_post_follows_no_redirect(self):
        for status in (302, 307):
            client, asked = self.serve((status, {"Location": "/elsewhere"}, ""))
            with self.assertRaises(SlotmeshError) as raised:
                client.book(ORDER)
            self.assertEqual((raised.exception.status, len(asked)), (status, 1))

    def test_addresses_and_names_are_checked(self):
        for base, slug in (("book.example", "salon"), ("https://book.example?x=1", "salon"), ("https://book.example", "../admin")):
            with self.assertRaises(ValueError):
                Slotmesh(base, slug)


class WebhookTest(unittest.TestCase):
    def test_signature_is_required(self):
        secret, body = "whsec_" + base64.b64encode(b"secret").decode(), b'{"type":"t","timestamp":"s","data":{"sequence":1}}'
        signature = base64.b64encode(hmac.digest(b"secret", b"evt.1000." + body, hashlib.sha256)).decode()
        headers = {"Webhook-Id": "evt", "webhook-timestamp": "1000", "webhook-signature": "v1,AAAA v1," + signature}
        self.assertEqual(read_webhook(secret, headers, body, now=1290).data, {"sequence": 1})
        for changed, text, now in ((headers, body + b" ", 1000), (headers, body, 1301), (headers, body, 699),
                                   (headers | {"webhook-signature": "v2," + signature}, body, 1000), ({}, body, 1000),
                                   (headers | {"webhook-timestamp": "1" * 5000}, body, 1000)):
            with self.assertRaises(WebhookError):
                read_webhook(secret, changed, text, now=now)
        with self.assertRaises(ValueError):
            read_webhook("whsec_", headers, body, now=1000)


if __name__ == "__main__":
    unittest.main()
