/// The negotiation that sender and receiver have in common. Matter Core § 11.22.4.
enum BulkTransferRules {
  /// The largest block that fits into a message over UDP with its headers.
  static let largestBlock: UInt16 = 1024
  /// The only version of the protocol.
  static let version: UInt8 = 0

  /// Accepts a proposal as the responder.
  /// - Parameter modes: The modes that this end supports; the first of sender and receiver drive is preferred.
  static func accept(
    _ proposal: BulkTransferProposal, modes: BulkTransferMode, preferring preferred: BulkTransferMode
  ) throws(BulkDataStatus) -> BulkTransferAcceptance {
    let common = proposal.modes.intersection(modes).subtracting(.asynchronous)
    guard !common.isEmpty else { throw .methodNotSupported }
    guard proposal.maximumBlockSize > 0 else { throw .badMessageContents }
    return BulkTransferAcceptance(
      mode: common.contains(preferred) ? preferred : common,
      maximumBlockSize: min(proposal.maximumBlockSize, largestBlock))
  }

  /// Checks the answer to a proposal as the initiator.
  static func check(_ acceptance: BulkTransferAcceptance, of proposal: BulkTransferProposal) throws(BulkDataStatus) {
    guard acceptance.version <= proposal.version else { throw .versionNotSupported }
    guard acceptance.mode == .senderDrive || acceptance.mode == .receiverDrive,
      proposal.modes.contains(acceptance.mode)
    else { throw .methodNotSupported }
    guard 1...proposal.maximumBlockSize ~= acceptance.maximumBlockSize else { throw .badMessageContents }
  }
}
