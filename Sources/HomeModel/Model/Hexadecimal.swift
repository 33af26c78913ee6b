/// Returns bytes as upper-case hexadecimal digits.
package func hexadecimal(_ bytes: some Collection<UInt8>) -> String {
  bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined()
}
