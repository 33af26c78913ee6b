import Testing

@testable import MatterProtocol

@Test func formatsInstanceNamesAndSubtypes() {
  let node = MatterService.Kind.operational(compressedFabricID: 0x2906_C908_D115_D362, nodeID: 0x8FC7_7724_01CD_0696)
  #expect(node.instanceName.description == "2906C908D115D362-8FC7772401CD0696._matter._tcp.local")
  #expect(MatterService.Kind(instanceName: DNSName("2906c908d115d362-8fc7772401cd0696._matter._tcp.local")) == node)
  #expect(
    MatterService.node(1).pointerNames.map(\.description)
      == ["_matter._tcp.local", "_I2906C908D115D362._sub._matter._tcp.local"])

  let lamp = MatterService.lamp(0xAB, discriminator: 0x0F7F)
  #expect(lamp.kind.instanceName.description == "A0000000000000AB._matterc._udp.local")
  #expect(
    Set(lamp.pointerNames.map(\.description).map { $0.split(separator: ".")[0] })
      == ["_matterc", "_S15", "_L3967", "_V65521", "_T257", "_CM"])
  var closed = lamp
  closed.commissioningMode = 0
  #expect(!closed.pointerNames.contains(DNSName("_CM._sub._matterc._udp.local")))

  for bad in [
    "AB._matterc._udp.local", "2906C908D115D362._matter._tcp.local", "+906C908D115D362._matterc._udp.local",
    "A0000000000000AB._http._tcp.local", "", "2906C908D115D362-8FC7772401CD0696-1._matter._tcp.local",
  ] { #expect(MatterService.Kind(instanceName: DNSName(bad)) == nil, "\(bad)") }
}

@Test func readsTypedTextEntries() {
  var service = MatterService.lamp(discriminator: 5)
  service.pairingHint = 33
  service.isLongIdleTime = true
  let strings = service.textStrings.map { String(decoding: $0, as: UTF8.self) }
  #expect(
    Set(strings) == [
      "D=5", "CM=1", "VP=65521+32769", "DT=257", "DN=Lamp 1", "SII=500", "SAI=300", "PH=33", "ICD=1",
    ])
  let back = MatterService(
    kind: service.kind, hostName: service.hostName, port: 1, text: MatterService.textEntries(service.textStrings))
  #expect(back.text == service.text)
  #expect(back.vendorID == 0xFFF1 && back.productID == 0x8001 && back.shortDiscriminator == 0)
  #expect(back.idleInterval == .milliseconds(500) && back.activeThreshold == nil)
}

@Test func ignoresInvalidTextEntries() {
  func service(_ text: String...) -> MatterService {
    MatterService(
      kind: .commissionable(instance: 1), hostName: "H", port: 1,
      text: MatterService.textEntries(text.map { Array($0.utf8) }))
  }
  #expect(service("D=0840").discriminator == nil)
  #expect(service("D=4096").discriminator == nil)
  #expect(service("D=-1").discriminator == nil)
  #expect(service("D=").discriminator == nil)
  #expect(service("d=840").discriminator == 840)
  #expect(service("D=1", "D=2").discriminator == 1)
  #expect(service("=1", "flag").text == [.init("flag", "")])
  #expect(service("VP=1").vendorID == 1 && service("VP=1").productID == nil)
  #expect(service("VP=1+2+3").vendorID == nil)
  #expect(service("SII=3600001").idleInterval == nil)
  #expect(service("SII=99999999999999999999999").idleInterval == nil)
  #expect(service("DN=a=b").deviceName == "a=b")
}
