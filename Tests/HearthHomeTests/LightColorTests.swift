import HearthHome
import HomeModel
import MatterClusters
import MatterModel
import Testing

@testable import HomeText

@Suite("Light colors") struct LightColorTests {
  @Test(arguments: [
    ("#ff8800", "#ff8800"), ("#F80", "#ff8800"), (" #00ff7f ", "#00ff7f"), ("2700K", "2700K"), ("6500 k", "6500K"),
  ])
  func parsesAndFormats(_ text: String, shown: String) throws {
    #expect(try LightColor(text: text).description == shown)
  }

  @Test(arguments: [
    "", "#", "#ff880", "#ff88000", "#gg0000", "red", "2700", "K", "-2700K", "999K", "40001K", "2700.5K", "#000",
    "٣٣٣٣K",
  ])
  func rejectsInvalidText(_ text: String) {
    #expect(throws: HomeError.self) { try LightColor(text: text) }
  }

  @Test(arguments: ["#ff8800", "#00ff00", "#0000ff", "#ff0000", "#ffffff", "#ff00ff", "#80ff40"])
  func roundTripsThroughWireUnits(_ text: String) throws {
    let color = try LightColor(text: text)
    let polar = color.hueAndSaturation
    #expect(LightColor(polar) == color)
    // The wire has 65536 steps of hue and 254 of saturation.
    let coarse = HueAndSaturation(
      hue: (polar.hue * 65536).rounded() / 65536, saturation: (polar.saturation * 254).rounded() / 254)
    guard case .rgb(let red, let green, let blue) = color, case .rgb(let r, let g, let b) = LightColor(coarse) else {
      Issue.record("no color")
      return
    }
    #expect(abs(Int(red) - Int(r)) <= 1 && abs(Int(green) - Int(g)) <= 1 && abs(Int(blue) - Int(b)) <= 1)
    guard case .rgb(let x, let y, let z) = LightColor(HueAndSaturation(color.chromaticity)) else { return }
    #expect(abs(Int(red) - Int(x)) <= 2 && abs(Int(green) - Int(y)) <= 2 && abs(Int(blue) - Int(z)) <= 2)
  }

  @Test func matchesReferenceChromaticities() {
    let red = Chromaticity(HueAndSaturation(hue: 0, saturation: 1))
    #expect(abs(red.x - 0.64) < 0.001 && abs(red.y - 0.33) < 0.001)
    let white = Chromaticity(HueAndSaturation(hue: 0.3, saturation: 0))
    #expect(abs(white.x - 0.3127) < 0.001 && abs(white.y - 0.329) < 0.001)
    #expect((150...156).contains(white.mireds), "\(white.mireds)")
    for mireds in stride(from: 120.0, through: 550, by: 10) {
      #expect(abs(Chromaticity(mireds: mireds).mireds - mireds) < mireds * 0.03, "\(mireds)")
    }
    #expect(Chromaticity(x: 0, y: 0).mireds == 40)
    #expect(HueAndSaturation(Chromaticity(x: 0, y: 0)).saturation <= 1)
  }

  @Test func formatsColorOfActiveMode() {
    func state(_ mode: UInt8) -> String {
      let attributes: [ConcreteAttributePath: [UInt8]] = [
        OnOff.onOff.path(on: 1): true.tlv, LevelControl.currentLevel.path(on: 1): UInt8(102).tlv,
        ColorControl.colorMode.path(on: 1): mode.tlv, ColorControl.currentHue.path(on: 1): UInt8(0).tlv,
        ColorControl.currentSaturation.path(on: 1): UInt8(254).tlv, ColorControl.currentX.path(on: 1): UInt16(9830).tlv,
        ColorControl.currentY.path(on: 1): UInt16(3932).tlv,
        ColorControl.colorTemperatureMireds.path(on: 1): UInt16(370).tlv,
      ]
      var values = NodeValues()
      for (path, value) in attributes { values[path] = value }
      return DeviceState(values, [DeviceEndpoint(id: 1)]).text
    }
    #expect(state(0) == "on 40% #ff0000")
    #expect(state(1) == "on 40% #0000ff")
    #expect(state(2) == "on 40% 2700K")
    #expect(state(9) == "on 40%")
  }
}
