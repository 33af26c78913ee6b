internal import MatterModel

/// The names in a Thread operational dataset, which is a list of types, lengths and values. Thread 1.3 § 8.10.
struct ThreadDataset {
  private(set) var networkName: String?
  private(set) var extendedPANID: ArraySlice<UInt8>?

  /// - Returns: nil for text that is not a dataset.
  init?(hexadecimal text: String) {
    guard var rest = [UInt8](hexadecimalDigits: text)?[...] else { return nil }
    while let type = rest.popFirst() {
      guard let length = rest.popFirst(), length <= rest.count else { return nil }
      let value = rest.prefix(Int(length))
      rest = rest.dropFirst(Int(length))
      switch type {
      case 2: extendedPANID = value
      case 3: networkName = String(validating: value, as: UTF8.self)
      default: break
      }
    }
  }
}
