/// A QR code of ISO/IEC 18004, error correction level M, versions 1 to 6: enough for the setup code of any device.
///
/// ```swift
/// for line in try QRCode(text: "MT:Y.K9042C00KA0648G00").lines { print(line) }
/// ```
public struct QRCode: Sendable, Hashable {
  /// Modules on a side.
  public let size: Int
  /// 1 for 21 modules on a side, and four more with each.
  public let version: Int
  /// Which of the eight masks was applied.
  public let mask: Int
  private var modules: [Bool]

  /// Encodes text that consists of digits, capital letters, blanks and `$%*+-./:` only, as every setup code does.
  public init(alphanumeric text: String) throws(QRCodeError) {
    try self.init(text: text, mask: nil, alphanumericOnly: true)
  }

  /// Encodes any text: as UTF-8 where the alphanumeric alphabet does not have it all.
  public init(text: String) throws(QRCodeError) {
    try self.init(text: text, mask: nil, alphanumericOnly: false)
  }

  /// - Parameters:
  ///   - mask: 0…7 to force one, nil for the one that reads best.
  ///   - minimumVersion: At least this large.
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

  /// Whether the module is dark; all around the code is light.
  public subscript(x: Int, y: Int) -> Bool {
    x >= 0 && y >= 0 && x < size && y < size && modules[y * size + x]
  }
}

/// Why a text can't become a QR code.
public enum QRCodeError: Error, Hashable, Sendable, CustomStringConvertible {
  /// A character outside of the alphanumeric alphabet; positions count from 1.
  case badCharacter(Character, position: Int)
  /// More than version 6 can hold; the length is in bytes.
  case tooLong(found: Int)

  public var description: String {
    switch self {
    case .badCharacter(let character, let position):
      "found “\(character)” at character \(position), expected a digit, a capital letter, a blank or one of $%*+-./:"
    case .tooLong(let found):
      "a text of \(found) bytes does not fit into a QR code of version 6 (154 alphanumeric characters or 106 bytes)"
    }
  }
}

// MARK: - The terminal

extension QRCode {
  /// How the code is drawn.
  public enum Style: Sendable, Hashable {
    /// For light text on a dark background: the light modules are drawn.
    case darkBackground
    /// For dark text on a light background: the dark modules are drawn.
    case lightBackground
    /// Black on white whatever the terminal's colours are, with ANSI colour codes.
    case ansi
  }

  /// The code for a terminal with a dark background, two modules to a character, with a quiet zone around it.
  public var lines: [String] { lines(style: .darkBackground) }

  /// The code in half blocks: a character is one module wide and two high.
  ///
  /// - Parameter quietZone: Light modules around the code. The standard wants 4; cameras are content with 2.
  public func lines(style: Style, quietZone: Int = 2) -> [String] {
    stride(from: -quietZone, to: size + quietZone, by: 2).map { y in
      let line = String(
        (-quietZone..<size + quietZone).map { x in
          // Below the last row of an odd height there is nothing to draw on.
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
