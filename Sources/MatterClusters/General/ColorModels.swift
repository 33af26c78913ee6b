// How the models of colour that Color Control speaks relate to each other. Application Clusters § 3.2.7.
//
// The standard leaves the true colours of a light to its maker. Ours has the primaries and the white of sRGB, hue and
// saturation are those of HSV, and a colour temperature is a point of the Planckian locus.

/// A colour by hue and saturation. Application Clusters § 3.2.7.2 and § 3.2.7.3.
public struct HueAndSaturation: Hashable, Sendable {
  /// A part of the whole circle, 0 to less than 1; 0 is red, a third is green.
  public var hue: Double
  /// 0, which is white, to 1.
  public var saturation: Double

  public init(hue: Double, saturation: Double) { (self.hue, self.saturation) = (hue, saturation) }

  /// The hue and saturation of red, green and blue, each 0 to 1, as screens mean them. How bright they are is left out.
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

  /// As bright as it gets: the largest of the three is 1.
  public var rgb: (red: Double, green: Double, blue: Double) {
    /// How much of a primary is there, by how far its hue is away: all up to a sixth, nothing from two sixths on.
    func part(_ primary: Double) -> Double {
      let away = abs(hue - primary)
      let amount = min(max(2 - 6 * min(away, 1 - away), 0), 1)
      return 1 - saturation * (1 - amount)
    }
    return (part(0), part(1.0 / 3), part(2.0 / 3))
  }

  public init(_ color: Chromaticity) {
    let rgb = color.linearRGB
    self.init(red: Curve.encode(rgb.red), green: Curve.encode(rgb.green), blue: Curve.encode(rgb.blue))
  }
}

/// A colour by its place in the CIE 1931 diagram. Application Clusters § 3.2.7.5.
public struct Chromaticity: Hashable, Sendable {
  /// Both 0 to 1.
  public var x, y: Double

  public init(x: Double, y: Double) { (self.x, self.y) = (x, y) }

  public init(_ color: HueAndSaturation) {
    let rgb = color.rgb
    let (red, green, blue) = (Curve.decode(rgb.red), Curve.decode(rgb.green), Curve.decode(rgb.blue))
    // From linear sRGB to CIE XYZ, IEC 61966-2-1.
    let x = 0.4124 * red + 0.3576 * green + 0.1805 * blue
    let y = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    let z = 0.0193 * red + 0.1192 * green + 0.9505 * blue
    self.init(x: x / (x + y + z), y: y / (x + y + z))
  }

  /// White of a colour temperature, after Kim et al., "Design of advanced color temperature control system". Below 1667
  /// K and above 25,000 K it is that of the end.
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

  /// The colour temperature that comes nearest, by McCamy's formula; for what is no white at all, the one end or the
  /// other.
  public var mireds: Double {
    let slope = y - 0.1858
    // Below its centre McCamy's formula knows nothing: purple is no temperature. Red is warm, blue is cold.
    guard slope > 0.02 else { return x > 0.3320 ? 1000 : 40 }
    let n = (x - 0.3320) / slope
    let kelvin = ((-449 * n + 3525) * n - 6823.3) * n + 5520.33
    return min(max(1_000_000 / max(kelvin, 1), 40), 1000)
  }

  /// In the light's own primaries; what lies outside of their triangle is brought to its edge. The largest part is 1.
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

/// The tone curve of sRGB, without a library of mathematics.
private enum Curve {
  /// From what screens are given to amounts of light.
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

  /// Newton's way from above, for numbers from 0 to a little more than 1.
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
