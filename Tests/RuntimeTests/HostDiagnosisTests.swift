import MatterProtocol
import Testing

@testable import Runtime

/// The network checks of `hearth doctor`.
@Suite("Host diagnosis") struct HostDiagnosisTests {
  private func interface(_ name: String, isLoopback: Bool) -> NetworkInterface {
    NetworkInterface(
      name: name, index: 7, addresses: [.init(.v4(0x0A00_0001), prefixLength: 24)], isLoopback: isLoopback)
  }

  @Test("reports a multicast DNS port held exclusively, as a problem except on loopback", arguments: [false, true])
  func heldPort(isLoopback: Bool) {
    var asked: [String] = []
    let check = HostDiagnosis.multicast(interface("v0", isLoopback: isLoopback)) { interface, _ throws(NetworkError) in
      asked.append(interface.name)
      throw .portInUse(SocketAddress(.v4(MulticastDNS.groupV4), port: MulticastDNS.port))
    }
    #expect(asked == ["v0"] && check.subject == "multicast")
    #expect(check.level == (isLoopback ? .note : .problem))
    #expect(check.finding.contains("UDP port 5353") && check.advice?.contains("ss -ulpn") == true, "\(check)")
  }

  @Test("reports the interface without multicast") func noMulticast() {
    let check = HostDiagnosis.multicast(interface("v0", isLoopback: false)) { _, _ throws(NetworkError) in
      throw .system(operation: "IP_ADD_MEMBERSHIP on v0", code: 19)
    }
    #expect(check.level == .problem && check.finding.hasPrefix("no multicast DNS over IPv4 on v0: "), "\(check)")
  }

  @Test("checks each selected interface") func selection() {
    #expect(HostDiagnosis.multicast(.named(["nowhere0"])).isEmpty)
    let names = NetworkInterfaces.usable(.all).map(\.name)
    let findings = HostDiagnosis.multicast(.all)
    #expect(findings.count == names.count)
    for (name, check) in zip(names, findings) where check.level == .ok { #expect(check.finding.hasSuffix(" \(name)")) }
  }
}
