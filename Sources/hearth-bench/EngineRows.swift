import MatterProtocol

/// Measures a controller and a device without sockets.
func engineRows(_ report: inout Report, _ options: Options) throws {
  var pair = try EnginePair()
  report.add(
    "engines: an on/off invoke, both sides",
    try measureBatches(options.scaled(200), of: 50) { try pair.toggle() })
  report.add(
    "engines: commissioning, both sides (and making both)",
    try measureEach(options.scaled(50)) { keep(try EnginePair()) })
}
