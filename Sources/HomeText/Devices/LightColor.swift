public import HomeModel
package import MatterClusters

/// A color: red, green and blue, or the color temperature of a white.
public enum LightColor: Hashable, Sendable, CustomStringConvertible {
  /// A color without its brightness, which is the level.
  case rgb(red: UInt8, green: UInt8, blue: UInt8)
  /// The color temperature of a white, in kelvin.
  case kelvin(Int)

  /// The accepted color temperatures. The encoding allows more, but no light supports them.
  static let temperatures = 1000...40_000

  /// Parses `#ff8800`, `#f80` or `2700K`.
  /// - Throws: `badArguments`.
  public init(text: String) throws(HomeError) {
    let word = text.lowercased().filter { !$0.isWhitespace }
    if word.hasPrefix("#"), let color = Self.hexadecimal(word.dropFirst()) {
      guard color > 0 else {
        throw HomeError(.badArguments, "black is not a light color; switch the light off instead")
      }
      self = .rgb(
        red: UInt8(truncatingIfNeeded: color >> 16), green: UInt8(truncatingIfNeeded: color >> 8),
        blue: UInt8(truncatingIfNeeded: color))
    } else if word.hasSuffix("k"), let number = Int(word.dropLast()), word.first?.isNumber == true {
      guard Self.temperatures.contains(number) else {
        throw HomeError(.badArguments, "“\(text)” is out of range; expected 1000K to 40000K")
      }
      self = .kelvin(number)
    } else {
      throw HomeError(.badArguments, "“\(text)” is not a color; expected '#ff8800' or a temperature such as 2700K")
    }
  }

  /// Returns the number with six digits, or with three that stand for two each.
  private static func hexadecimal(_ digits: Substring) -> UInt32? {
    guard digits.count == 3 || digits.count == 6, digits.allSatisfy(\.isHexDigit) else { return nil }
    return UInt32(digits.count == 6 ? String(digits) : digits.map { "\($0)\($0)" }.joined(), radix: 16)
  }

  /// "#ff8800", "2700K".
  public var description: String {
    switch self {
    case .kelvin(let kelvin): "\(kelvin)K"
    case .rgb(let red, let green, let blue): "#" + [red, green, blue].hexadecimal.lowercased()
    }
  }
}

extension LightColor {
  package init(_ color: HueAndSaturation) {
    let rgb = color.rgb
    func byte(_ part: Double) -> UInt8 { UInt8((min(max(part, 0), 1) * 255).rounded()) }
    self = .rgb(red: byte(rgb.red), green: byte(rgb.green), blue: byte(rgb.blue))
  }

  package init?(mireds: UInt16) {
    guard mireds > 0 else { return nil }
    let kelvin = 1_000_000 / Double(mireds)
    // Rounded to tens, because one mired is more than that.
    self = .kelvin(kelvin > 1000 ? Int((kelvin / 10).rounded()) * 10 : Int(kelvin.rounded()))
  }

  /// The color temperature in mireds; nil for a color.
  var mireds: UInt16? {
    if case .kelvin(let kelvin) = self { UInt16(clamping: Int((1_000_000 / Double(kelvin)).rounded())) } else { nil }
  }

  var hueAndSaturation: HueAndSaturation {
    switch self {
    case .kelvin: HueAndSaturation(chromaticity)
    case .rgb(let red, let green, let blue):
      HueAndSaturation(red: Double(red) / 255, green: Double(green) / 255, blue: Double(blue) / 255)
    }
  }

  var chromaticity: Chromaticity {
    switch self {
    case .kelvin(let kelvin): Chromaticity(mireds: 1_000_000 / Double(kelvin))
    case .rgb: Chromaticity(hueAndSaturation)
    }
  }
}
