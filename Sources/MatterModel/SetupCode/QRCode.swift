/// A QR code (ISO/IEC 18004) with error correction level M, versions 1 to 6, sufficient for all setup codes.
///
/// ```swift
/// for line in try QRCode(text: "MT:Y.K9042C00KA0648G00").lines { print(line) }
/// ```
public struct QRCode: Sendable, Hashable {
  /// Number of modules per side.
  public let size: Int
  /// The version; version 1 has 21 modules per side, each further version four more.
  public let version: Int
  /// The applied mask, 0…7.
  public let mask: Int
  private var modules: [Bool]

  /// Encodes text of digits, capital letters, blanks and `$%*+-./:`, as in setup codes.
  public init(alphanumeric text: String) throws(QRCodeError) {
    try self.init(text: text, mask: nil, alphanumericOnly: true)
  }

  /// Encodes any text; uses UTF-8 if it has characters outside of the alphanumeric alphabet.
  public init(text: String) throws(QRCodeError) {
    try self.init(text: text, mask: nil, alphanumericOnly: false)
  }

  /// - Parameters:
  ///   - mask: the mask, 0…7, or nil for the one with the lowest penalty.
  ///   - minimumVersion: the smallest version to use.
  init(text: String, mask forcedMask: Int?, alphanumericOnly: Bool, minimumVersion: Int = 1) throws(QRCodeError) {
    let segment = try QRSegment(text: text, alphanumericOnly: alphanumericOnly)
    let layouts = QRLayout.all.dropFirst(minimumVersion - 1)
    guard let layout = layouts.first(where: { segment.bits.count <= $0.dataByteCount * 8 }) else {
      throw .tooLong(found: text.utf8.count)
    }
    let canvas = QRCanvas(layout: layout, codewords: layout.codewords(of: segment))
    let candidates = (forcedMask.map { [$0] } ?? Array(0..<8)).map { (mask: $0, modules: canvas.modules(mask: $0)) }
    var best = candidates[0]
    var lowest = QRPenalty.score(best.modules, size: layout.size)
    for candidate in candidates.dropFirst() {
      let score = QRPenalty.score(candidate.modules, size: layout.size)
      if score < lowest { (best, lowest) = (candidate, score) }
    }
    size = layout.size
    version = layout.version
    mask = best.mask
    modules = best.modules
  }

  /// Whether the module is dark; modules outside of the code are light.
  public subscript(x: Int, y: Int) -> Bool {
    x >= 0 && y >= 0 && x < size && y < size && modules[y * size + x]
  }
}

/// The reason why a text cannot be encoded as a QR code.
public enum QRCodeError: Error, Hashable, Sendable, CustomStringConvertible {
  /// A character outside of the alphanumeric alphabet; the position counts from 1.
  case badCharacter(Character, position: Int)
  /// The text, with this length in bytes, exceeds version 6.
  case tooLong(found: Int)

  public var description: String {
    switch self {
    case .badCharacter(let character, let position):
      "found “\(character)” at character \(position), expected a digit, a capital letter, a blank or one of $%*+-./:"
    case .tooLong(let found):
      "a text of \(found) bytes does not fit a QR code of version 6 (154 alphanumeric characters or 106 bytes)"
    }
  }
}

// MARK: - Terminal output

extension QRCode {
  /// The colors of terminal output.
  public enum Style: Sendable, Hashable {
    /// Light text on a dark background: draws the light modules.
    case darkBackground
    /// Dark text on a light background: draws the dark modules.
    case lightBackground
    /// Black on white with ANSI color codes, independent of the terminal's colors.
    case ansi
  }

  /// The code for a terminal with a dark background, two modules per character, with a quiet zone.
  public var lines: [String] { lines(style: .darkBackground) }

  /// Returns the code in half blocks: a character is one module wide and two high.
  ///
  /// - Parameter quietZone: number of light modules around the code. The standard requires 4; 2 suffice for cameras.
  public func lines(style: Style, quietZone: Int = 2) -> [String] {
    stride(from: -quietZone, to: size + quietZone, by: 2).map { y in
      let line = String(
        (-quietZone..<size + quietZone).map { x in
          // With an odd height, the last line has no lower row.
          let hasLower = y + 1 < size + quietZone
          let drawsDark = style != .darkBackground
          return Self.halfBlock(
            upper: self[x, y] == drawsDark, lower: hasLower && self[x, y + 1] == drawsDark)
        })
      return style == .ansi ? "\u{1B}[30;107m\(line)\u{1B}[0m" : line
    }
  }

  private static func halfBlock(upper: Bool, lower: Bool) -> Character {
    switch (upper, lower) {
    case (true, true): "█"
    case (true, false): "▀"
    case (false, true): "▄"
    case (false, false): " "
    }
  }
}
