import MatterClusters
import MatterDevice
import MatterModel
import MatterProtocol
import Testing

@testable import VirtualDevices

/// Providers of software in definition files.
@Suite("Providers of software") struct SoftwareUpdateTests {
  private func device(_ fields: String) throws -> DeviceDefinition {
    let text = "devices:\n  - name: Thing\n    \(fields)\n"
    return try #require(try HomeDefinition.load(simulating: [("home.yaml", text)]).devices.first)
  }

  @Test func readsImages() throws {
    let images = try device(
      """
      type: OTA provider
          images:
            - { version: 2, type: dimmable light }
            - { version: 3, text: 3.0 beta, vendor: 0xFFF2, product: 0x42, size: 10, from: 1, to: 2 }
      """
    ).images
    let first = try #require(images.first?.header)
    #expect((first.vendorID, first.productID, first.softwareVersion) == (0xFFF1, 0x8001, 2))
    #expect(first.softwareVersionString == "2.0" && first.payloadSize == 16_384)
    let second = try #require(images.last?.header)
    #expect((second.vendorID, second.productID, second.softwareVersion) == (0xFFF2, 0x42, 3))
    #expect(second.softwareVersionString == "3.0 beta" && second.payloadSize == 10)
    #expect(second.minimumApplicableVersion == 1 && second.maximumApplicableVersion == 2)
    for image in images { try SoftwareImage(decoding: image.bytes).verify() }
    #expect(Set(images.map(\.name)).count == 2)
  }

  @Test(arguments: [
    ("type: plug\n    images: []", "home.yaml:4:13: found “images”, expected this key only in"),
    ("type: OTA provider\n    images: 3", "home.yaml:4:13: found 3, expected a list of at most 64 images"),
    (
      "type: OTA provider\n    images: [{ type: plug }]", "home.yaml:4:14: found a mapping, expected an image with “ver"
    ),
    (
      "type: OTA provider\n    images: [{ version: 2 }]",
      "home.yaml:4:14: found a mapping, expected an image with either"
    ),
    (
      "type: OTA provider\n    images: [{ version: 2, type: plug, product: 3 }]",
      "home.yaml:4:14: found a mapping, expected an image with either"
    ),
    (
      "type: OTA provider\n    images: [{ version: -1, type: plug }]",
      "home.yaml:4:25: found -1, expected a number from 1"
    ),
    (
      "type: OTA provider\n    images: [{ version: 2, type: plug, from: 5 }]",
      "home.yaml:4:46: found 5, expected a version below 2"
    ),
    (
      "type: OTA provider\n    images: [{ version: 9, type: plug, from: 5, to: 2 }]",
      "home.yaml:4:53: found 2, expected a version from 5"
    ),
    ("type: OTA provider\n    images: [{ version: 2, type: pluk }]", "home.yaml:4:34: found device type “pluk”"),
    (
      "type: OTA provider\n    images: [{ version: 2, type: plug, size: -1 }]",
      "home.yaml:4:46: found -1, expected a number of bytes"
    ),
    ("type: OTA provider\n    images: [{ version: 2, type: plug, text: \"\" }]", "home.yaml:4:46: found"),
    ("type: bridge\n    devices: [{ name: A, type: OTA provider }]", "home.yaml:4:32: found “OTA provider”"),
  ]) func reportsWrongImages(_ fields: String, _ message: String) {
    let error = #expect(throws: DefinitionError.self) { try device(fields) }
    let problem = error?.problems.map(\.description).joined(separator: "\n")
    #expect(problem?.hasPrefix(message) == true, "\(problem ?? "")")
  }
}
