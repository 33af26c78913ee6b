// Conversion between the color models of Color Control. Application Clusters § 3.2.7.
//
// The standard leaves the primaries of a light to its manufacturer. Here the primaries and the white point are those of
// sRGB, hue and saturation are those of HSV, and a color temperature is a point of the Planckian locus.

/// A color by hue and saturation. Application Clusters § 3.2.7.2 and § 3.2.7.3.
public struct HueAndSaturation: Hashable, Sendable {
  /// The fraction of the circle, 0 to less than 1; 0 is red, a third is green.
  public var hue: Double
  /// 0 (white) to 1.
  public var saturation: Double

  public init(hue: Double, saturation: Double) { (self.hue, self.saturation) = (hue, saturation) }

  /// Converts sRGB components, each 0 to 1. The brightness is discarded.
  public init(red: Double, green: Double, blue: Double) {
    let (most, least) = (max(red, green, blue), min(red, green, blue))
    let range = most - least
    guard range > 0 else {
      self.init(hue: 0, saturation: 0)
      return
    }
    let sixths =
      if most == red {
        (green - blue) / range + (green < blue ? 6 : 0)
      } else if most == green {
        (blue - red) / range + 2
      } else {
        (red - green) / range + 4
      }
    self.init(hue: sixths / 6, saturation: range / most)
  }

  /// The sRGB components at maximum brightness: the largest one is 1.
  public var rgb: (red: Double, green: Double, blue: Double) {
    /// Returns the share of a primary by the distance of its hue: 1 up to a sixth, 0 from two sixths.
    func part(_ primary: Double) -> Double {
      let away = abs(hue - primary)
      let amount = min(max(2 - 6 * min(away, 1 - away), 0), 1)
      return 1 - saturation * (1 - amount)
    }
    return (part(0), part(1.0 / 3), part(2.0 / 3))
  }

  /// Converts a chromaticity to the nearest color of the sRGB gamut at full brightness.
  public init(_ color: Chromaticity) {
    let rgb = color.linearRGB
    self.init(red: Curve.encode(rgb.red), green: Curve.encode(rgb.green), blue: Curve.encode(rgb.blue))
  }
}

/// A color by its coordinates in the CIE 1931 diagram. Application Clusters § 3.2.7.5.
public struct Chromaticity: Hashable, Sendable {
  /// Both 0 to 1.
  public var x, y: Double

  public init(x: Double, y: Double) { (self.x, self.y) = (x, y) }

  /// Converts a hue and saturation, which are those of sRGB at full brightness.
  public init(_ color: HueAndSaturation) {
    let rgb = color.rgb
    let (red, green, blue) = (Curve.decode(rgb.red), Curve.decode(rgb.green), Curve.decode(rgb.blue))
    // From linear sRGB to CIE XYZ, IEC 61966-2-1.
    let x = 0.4124 * red + 0.3576 * green + 0.1805 * blue
    let y = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    let z = 0.0193 * red + 0.1192 * green + 0.9505 * blue
    self.init(x: x / (x + y + z), y: y / (x + y + z))
  }

  /// The white of a color temperature, by Kim et al., "Design of advanced color temperature control system". Clamped to
  /// 1667 K to 25,000 K.
  public init(mireds: Double) {
    let t = min(max(mireds, 40), 600) / 1000
    let x =
      t >= 0.25
      ? ((-0.2661239 * t - 0.2343589) * t + 0.8776956) * t + 0.179910
      : ((-3.0258469 * t + 2.1070379) * t + 0.2226347) * t + 0.240390
    let y =
      if t > 0.45 {
        ((-1.1063814 * x - 1.34811020) * x + 2.18555832) * x - 0.20219683
      } else if t >= 0.25 {
        ((-0.9549476 * x - 1.37418593) * x + 2.09137015) * x - 0.16748867
      } else {
        ((3.0817580 * x - 5.87338670) * x + 3.75112997) * x - 0.37001483
      }
    self.init(x: x, y: y)
  }

  /// The nearest color temperature by McCamy's formula; the lowest or highest one for colors that are not white.
  public var mireds: Double {
    let slope = y - 0.1858
    // McCamy's formula is not defined below its center (purple). Red is mapped to the warmest, blue to the coldest.
    guard slope > 0.02 else { return x > 0.3320 ? 1000 : 40 }
    let n = (x - 0.3320) / slope
    let kelvin = ((-449 * n + 3525) * n - 6823.3) * n + 5520.33
    return min(max(1_000_000 / max(kelvin, 1), 40), 1000)
  }

  /// The linear components in the light's primaries, with colors outside of their triangle moved to its edge. The
  /// largest one is 1.
  fileprivate var linearRGB: (red: Double, green: Double, blue: Double) {
    let height = max(y, 0.0001)
    let (x, z) = (self.x / height, (1 - self.x - y) / height)
    let red = max(3.2406 * x - 1.5372 - 0.4986 * z, 0)
    let green = max(-0.9689 * x + 1.8758 + 0.0415 * z, 0)
    let blue = max(0.0557 * x - 0.2040 + 1.0570 * z, 0)
    let most = max(red, green, blue, 0.0001)
    return (red / most, green / most, blue / most)
  }
}

/// The sRGB transfer function, implemented without a math library.
private enum Curve {
  /// Converts an encoded component to linear light.
  static func decode(_ value: Double) -> Double {
    guard value > 0.04045 else { return value / 12.92 }
    let base = (value + 0.055) / 1.055
    // To the power of 2.4: the fifth root of the twelfth power.
    return root(power(base, 12), 5)
  }

  static func encode(_ light: Double) -> Double {
    guard light > 0.0031308 else { return light * 12.92 }
    // To the power of 5/12.
    return 1.055 * root(power(light, 5), 3).squareRoot().squareRoot() - 0.055
  }

  private static func power(_ base: Double, _ exponent: Int) -> Double {
    (0..<exponent).reduce(1) { product, _ in product * base }
  }

  /// Newton's method from above, for numbers from 0 to slightly more than 1.
  private static func root(_ number: Double, _ degree: Int) -> Double {
    var guess = max(number, 1)
    for _ in 0..<100 {
      let next = guess - (guess - number / power(guess, degree - 1)) / Double(degree)
      guard next < guess else { break }
      guess = next
    }
    return guess
  }
}
