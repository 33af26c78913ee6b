"""A manufacturer with an attestation root that controllers don't trust.

Uses pyca/cryptography and the encoder of CircuitMatter, without code of Hearth.
"""

import datetime
import os

from circuitmatter.certificates import CertificationDeclaration, CertificationType, encode_set
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID
from ecdsa import der

# A test vendor for which CircuitMatter has no certificate.
VENDOR, PRODUCT = 0xFFF3, 0x8003

# Core Specification § 6.2.2.3: the vendor and the product in the subject of a certificate.
VENDOR_ID = x509.ObjectIdentifier("1.3.6.1.4.1.37244.2.1")
PRODUCT_ID = x509.ObjectIdentifier("1.3.6.1.4.1.37244.2.2")
BEGIN = datetime.datetime(2024, 1, 1)
FOREVER = datetime.datetime(9999, 12, 31, 23, 59, 59)


def key_identifier(key) -> bytes:
    return x509.SubjectKeyIdentifier.from_public_key(key.public_key()).digest


class Manufacturer:
    """The keys and certificates of the root (PAA), the intermediate (PAI) and the certification declarations."""

    def __init__(self):
        self.root_key, self.intermediate_key, self.declaration_key = (
            ec.generate_private_key(ec.SECP256R1()) for _ in range(3))
        self.root = self._issue(self.root_key, self.root_key, "Test Manufacturer Root", {}, None, depth=1)
        self.intermediate = self._issue(self.root_key, self.intermediate_key, "Test Manufacturer Intermediate",
                                        {VENDOR_ID: VENDOR}, self.root, depth=0)
        self.signer = self._issue(self.declaration_key, self.declaration_key, "Test Manufacturer CD Signing Key", {}, None,
                                  depth=0)

    def _issue(self, issuer_key, key, name: str, ids: dict, issuer, depth=None) -> x509.Certificate:
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]
                            + [x509.NameAttribute(oid, f"{number:04X}") for oid, number in ids.items()])
        is_authority = depth is not None
        usage = dict.fromkeys(("content_commitment", "key_encipherment", "data_encipherment", "key_agreement",
                               "encipher_only", "decipher_only"), False)
        return (x509.CertificateBuilder()
                .subject_name(subject).issuer_name(issuer.subject if issuer else subject)
                .public_key(key.public_key()).serial_number(x509.random_serial_number())
                .not_valid_before(BEGIN).not_valid_after(FOREVER)
                .add_extension(x509.BasicConstraints(is_authority, depth), critical=True)
                .add_extension(x509.KeyUsage(digital_signature=not is_authority, key_cert_sign=is_authority,
                                             crl_sign=is_authority, **usage), critical=True)
                .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
                .add_extension(x509.AuthorityKeyIdentifier(key_identifier(issuer_key), None, None), critical=False)
                .sign(issuer_key, hashes.SHA256()))

    def device(self) -> tuple[bytes, bytes]:
        """Returns the certificate (DAC) of a new device, and its key."""
        key = ec.generate_private_key(ec.SECP256R1())
        ids = {VENDOR_ID: VENDOR, PRODUCT_ID: PRODUCT}
        certificate = self._issue(self.intermediate_key, key, "Test Manufacturer Lamp", ids, self.intermediate)
        return (certificate.public_bytes(Encoding.DER),
                key.private_bytes(Encoding.DER, PrivateFormat.TraditionalOpenSSL, NoEncryption()))

    @property
    def intermediate_certificate(self) -> bytes:
        return self.intermediate.public_bytes(Encoding.DER)

    def declaration(self) -> bytes:
        """Returns the certification declaration of § 6.3.1, a CMS message with the identifier of the signing key."""
        content = CertificationDeclaration()
        content.format_version, content.vendor_id, content.product_id_array = 1, VENDOR, [PRODUCT]
        content.device_type_id, content.certificate_id = 0x0100, "CSA00000SWC00000-00"
        content.security_level = content.security_information = 0
        content.version_number, content.certification_type = 1, CertificationType.DEVELOPMENT_AND_TEST
        encoded = bytes(content.encode())
        sha256 = der.encode_sequence(der.encode_oid(2, 16, 840, 1, 101, 3, 4, 2, 1))
        signature = self.declaration_key.sign(encoded, ec.ECDSA(hashes.SHA256()))
        identifier = key_identifier(self.declaration_key)
        signer = der.encode_sequence(
            der.encode_integer(3), b"\x80" + der.encode_length(len(identifier)) + identifier, sha256,
            der.encode_sequence(der.encode_oid(1, 2, 840, 10045, 4, 3, 2)), der.encode_octet_string(signature))
        signed = der.encode_sequence(
            der.encode_integer(3), encode_set(sha256),
            der.encode_sequence(der.encode_oid(1, 2, 840, 113549, 1, 7, 1),
                                der.encode_constructed(0, der.encode_octet_string(encoded))),
            encode_set(signer))
        return der.encode_sequence(der.encode_oid(1, 2, 840, 113549, 1, 7, 2), der.encode_constructed(0, signed))

    def publish(self, directory: str):
        """Writes the trust store of this manufacturer: `root` has the root, `whole` also the declaration key."""
        for name in ("root", "whole"):
            os.makedirs(os.path.join(directory, name), exist_ok=True)
            with open(os.path.join(directory, name, "manufacturer-root.pem"), "wb") as file:
                file.write(self.root.public_bytes(Encoding.PEM))
        os.makedirs(os.path.join(directory, "whole", "cd-certs"), exist_ok=True)
        with open(os.path.join(directory, "whole", "cd-certs", "manufacturer.der"), "wb") as file:
            file.write(self.signer.public_bytes(Encoding.DER))
