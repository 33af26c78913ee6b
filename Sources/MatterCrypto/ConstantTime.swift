import COpenSSL

/// Compares two byte strings in a time that depends only on their lengths.
public func constantTimeEqual(_ first: [UInt8], _ second: [UInt8]) -> Bool {
  first.count == second.count && CRYPTO_memcmp(first, second, first.count) == 0
}
