import MatterCrypto
import MatterProtocol
import MatterTLV

/// Measures encoding and encryption.
func codecRows(_ report: inout Report, _ options: Options) throws {
  let batches = options.scaled(500)
  let request = InvokeRequest([CommandData(Invoke.path)])
  report.add(
    "TLV: write an on/off invoke request",
    measureBatches(batches, of: 500) {
      var writer = TLVWriter(reservingCapacity: 64)
      request.encode(to: &writer)
      keep(writer.finish())
    })
  report.add(
    "TLV: read it in place",
    try measureBatches(batches, of: 500) {
      let message = Invoke.request
      let bytes = message.span.bytes
      var reader = try InvokeRequestReader(bytes)
      while let command = try reader.nextCommand(bytes) { keep(command) }
    })
  report.add(
    "TLV: read its response",
    try measureBatches(batches, of: 500) { keep(try InvokeResponse(decoding: Invoke.response)) })

  let cipher = try AESCCM(key: SymmetricKey([UInt8](repeating: 0x5A, count: 16)))
  var counter: UInt32 = 0
  var buffer = [UInt8](repeating: 7, count: 68)
  buffer.reserveCapacity(96)
  report.add(
    "AES-CCM: seal and open 60 bytes",
    try measureBatches(batches, of: 200) {
      counter += 1
      let nonce = Nonce(securityFlags: 0, messageCounter: counter, sourceNodeID: 0x1234)
      try cipher.seal(&buffer, from: 8, nonce: nonce, aad: 0..<8)
      try cipher.open(&buffer, from: 8, nonce: nonce, aad: 0..<8)
    })
}
