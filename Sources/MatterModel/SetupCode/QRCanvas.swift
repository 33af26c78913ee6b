/// Draws finder, timing and alignment patterns, format bits and data.
struct QRCanvas {
  private let size: Int
  private var modules: [Bool]
  private var isReserved: [Bool]

  init(layout: QRLayout, codewords: [UInt8]) {
    size = layout.size
    modules = Array(repeating: false, count: size * size)
    isReserved = modules
    drawPatterns(version: layout.version)
    drawFormat(mask: 0)
    drawData(codewords)
  }

  /// Returns the masked modules, row by row.
  func modules(mask: Int) -> [Bool] {
    var copy = self
    for y in 0..<size {
      for x in 0..<size where !isReserved[y * size + x] && Self.inverts(mask: mask, x: x, y: y) {
        copy.modules[y * size + x].toggle()
      }
    }
    copy.drawFormat(mask: mask)
    return copy.modules
  }

  /// Returns level and mask with their check bits, for level M (00). ISO/IEC 18004 § 7.9.
  static func formatBits(mask: Int) -> Int {
    var remainder = mask
    for _ in 0..<10 { remainder = remainder << 1 ^ (remainder >> 9) * 0x537 }
    return (mask << 10 | remainder) ^ 0x5412
  }

  private static func inverts(mask: Int, x: Int, y: Int) -> Bool {
    switch mask {
    case 0: (x + y) % 2 == 0
    case 1: y % 2 == 0
    case 2: x % 3 == 0
    case 3: (x + y) % 3 == 0
    case 4: (x / 3 + y / 2) % 2 == 0
    case 5: x * y % 2 + x * y % 3 == 0
    case 6: (x * y % 2 + x * y % 3) % 2 == 0
    default: ((x + y) % 2 + x * y % 3) % 2 == 0
    }
  }

  private mutating func reserve(_ x: Int, _ y: Int, dark: Bool) {
    guard x >= 0, y >= 0, x < size, y < size else { return }
    modules[y * size + x] = dark
    isReserved[y * size + x] = true
  }

  private mutating func drawPatterns(version: Int) {
    for index in 0..<size {
      reserve(6, index, dark: index % 2 == 0)
      reserve(index, 6, dark: index % 2 == 0)
    }
    for (centerX, centerY) in [(3, 3), (size - 4, 3), (3, size - 4)] {
      for dy in -4...4 {
        for dx in -4...4 {
          let ring = max(abs(dx), abs(dy))
          reserve(centerX + dx, centerY + dy, dark: ring != 2 && ring != 4)
        }
      }
    }
    guard version > 1 else { return }
    // Up to version 6 only one alignment pattern does not overlap a finder pattern.
    for dy in -2...2 {
      for dx in -2...2 { reserve(size - 7 + dx, size - 7 + dy, dark: max(abs(dx), abs(dy)) != 1) }
    }
  }

  private mutating func drawFormat(mask: Int) {
    let format = Self.formatBits(mask: mask)
    for index in 0..<15 {
      let dark = format >> index & 1 == 1
      switch index {
      case 0...5: reserve(8, index, dark: dark)
      case 6: reserve(8, 7, dark: dark)
      case 7: reserve(8, 8, dark: dark)
      case 8: reserve(7, 8, dark: dark)
      default: reserve(14 - index, 8, dark: dark)
      }
      if index < 8 {
        reserve(size - 1 - index, 8, dark: dark)
      } else {
        reserve(8, size - 15 + index, dark: dark)
      }
    }
    reserve(8, size - 8, dark: true)
  }

  /// Draws the data in pairs of columns from the right, alternately up and down, skipping the vertical timing pattern.
  private mutating func drawData(_ codewords: [UInt8]) {
    var index = 0
    var goesUp = true
    var right = size - 1
    while right > 0 {
      if right == 6 { right = 5 }
      for step in 0..<size {
        let y = goesUp ? size - 1 - step : step
        for x in [right, right - 1] where !isReserved[y * size + x] && index < codewords.count * 8 {
          modules[y * size + x] = codewords[index / 8] >> UInt8(7 - index % 8) & 1 == 1
          index += 1
        }
      }
      goesUp.toggle()
      right -= 2
    }
  }
}

/// The penalty score that selects the mask. ISO/IEC 18004 § 7.8.3.
enum QRPenalty {
  static func score(_ modules: [Bool], size: Int) -> Int {
    var score = 0
    for line in 0..<size {
      score += lineScore((0..<size).map { modules[line * size + $0] })
      score += lineScore((0..<size).map { modules[$0 * size + line] })
    }
    for y in 0..<(size - 1) {
      for x in 0..<(size - 1) {
        let color = modules[y * size + x]
        if color == modules[y * size + x + 1], color == modules[(y + 1) * size + x],
          color == modules[(y + 1) * size + x + 1]
        {
          score += 3
        }
      }
    }
    let percent = modules.count(where: { $0 }) * 100 / modules.count
    return score + abs(percent - 50) / 5 * 10
  }

  /// Scores runs of at least five modules of one color, and patterns similar to a finder pattern.
  private static func lineScore(_ line: [Bool]) -> Int {
    var score = 0
    var run = 0
    for (index, module) in line.enumerated() {
      run = index > 0 && line[index - 1] == module ? run + 1 : 1
      if run == 5 { score += 3 } else if run > 5 { score += 1 }
    }
    for pattern in finderLike where line.count >= pattern.count {
      for start in 0...(line.count - pattern.count)
      where line[start..<(start + pattern.count)].elementsEqual(pattern) {
        score += 40
      }
    }
    return score
  }

  private static let finderLike = ["10111010000", "00001011101"].map { $0.map { $0 == "1" } }
}
