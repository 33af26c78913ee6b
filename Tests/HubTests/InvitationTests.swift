import Foundation
import HearthHome
import HomeModel
import HomeStore
import Testing

@testable import Hub

@Suite("Invitations") struct InvitationTests {
  private static let token = String(repeating: "0F", count: 16)
  private static let home = String(repeating: "A1", count: 16)
  private static let fingerprint = String(repeating: "5C", count: 32)

  private static func invitation(_ addresses: [HubAddress], _ name: String = "Ada") throws -> HubInvitation {
    HubInvitation(
      addresses: addresses, token: token, fingerprint: try CertificateFingerprint(fingerprint), home: home, name: name,
      role: .member)
  }

  @Test func hasForm() throws {
    let invitation = try Self.invitation([.host("192.168.1.10", port: 5550)])
    let text =
      "hearth://join/?address=192.168.1.10:5550&token=\(Self.token)&fingerprint=\(Self.fingerprint)"
      + "&home=\(Self.home)&name=Ada&role=member"
    #expect("\(invitation)" == text)
  }

  @Test func roundTrip() throws {
    let addresses: [HubAddress] = [
      .host("fe80::1%eth0", port: 5550), .host("hub.local", port: 1),
      .web(host: "hub.example", port: 443, path: "/ws"), .web(host: "::1", port: 8443, path: "/a%20b/ws"),
    ]
    for name in ["Ada", "Söhne & Co", "a=b?c#d é+%41", "☎"] {
      let invitation = try Self.invitation(addresses, name)
      #expect(try HubInvitation("\(invitation)") == invitation)
    }
    var web = try Self.invitation([.web(host: "hub.example", port: 443, path: "/ws")])
    web.fingerprint = nil
    #expect(try HubInvitation("\(web)") == web)
  }

  @Test func rejectsMalformedText() throws {
    let text = "\(try Self.invitation([.host("192.168.1.10", port: 5550)]))"
    let replacements = [
      ("hearth://", "https://"), ("//join", "//leave"), ("join/", "join:1/"), ("join/", "join/x"), ("?", "#"),
      ("address=192.168.1.10:5550&", ""), (":5550", ""), (":5550", ":0"), (":5550", ":65536"), (":5550", ":+5"),
      ("192.168.1.10:5550", "https://hub.example"), ("192.168.1.10:5550", "wss://user@hub.example"),
      ("192.168.1.10:5550", "::1:5550"), ("192.168.1.10:5550", "/tmp/hub.sock"), ("token=0F", "token=0f"),
      ("token=0F", "token=F"),
      ("token=", "token=0&token="),
      ("fingerprint=5C", "fingerprint="), ("fingerprint=5C", "fingerprint=xy"), ("home=", "house="),
      ("home=A1", "home=G1"), ("name=Ada", "name="), ("role=member", "role=cook"), ("role=member", "role=member&x=1"),
      ("&role=member", ""), ("name=Ada", "name=A da"), ("name=Ada", "name=" + String(repeating: "a", count: 5000)),
    ]
    for (old, new) in replacements {
      let changed = text.replacingOccurrences(of: old, with: new)
      #expect(changed != text)
      do throws(HomeError) {
        _ = try HubInvitation(changed)
        Issue.record("accepted \(changed)")
      } catch {
        #expect(error.code == .badArguments && !error.message.contains(Self.token), "\(error)")
      }
    }
    for count in 0..<text.utf8.count {
      #expect(throws: HomeError.self) { try HubInvitation(String(text.prefix(count))) }
    }
  }

  @Test func requiresFingerprintForPinnedAddresses() throws {
    var invitation = try Self.invitation([.host("192.168.1.10", port: 5550)])
    invitation.fingerprint = nil
    #expect(throws: HomeError.self) { try HubInvitation("\(invitation)") }
  }

  @Test func parsesAddresses() throws {
    #expect(try HubAddress("hub.local:5550") == .host("hub.local", port: 5550))
    #expect(try HubAddress("[::1]:5550") == .host("::1", port: 5550))
    #expect(try HubAddress("wss://hub.example") == .web(host: "hub.example", port: 443, path: "/ws"))
    #expect(try HubAddress("wss://hub.example:8443/home/ws") == .web(host: "hub.example", port: 8443, path: "/home/ws"))
    #expect(try HubAddress("wss://[::1]/") == .web(host: "::1", port: 443, path: "/ws"))
    #expect(try HubAddress("WSS://hub.example") == .web(host: "hub.example", port: 443, path: "/ws"))
    #expect(try HubAddress("/run/hub.sock") == .socket("/run/hub.sock"))
    for text in [
      "", "hub", "hub:", ":1", "hub:x", "[::1]", "[::1:5", "a b:1", "ws://hub", "wss://", "wss://a/?b", "a/b:1",
    ] {
      #expect(throws: HomeError.self) { try HubAddress(text) }
    }
  }

  @Test func parsesFingerprints() throws {
    let fingerprint = try CertificateFingerprint(Self.fingerprint)
    #expect("\(fingerprint)" == Self.fingerprint)
    let spaced = Array(repeating: "5c", count: 32).joined(separator: ":")
    #expect(try CertificateFingerprint(spaced) == fingerprint)
    for text in [
      "", "5c", Self.fingerprint + "5", String(Self.fingerprint.dropLast()), spaced + ":", "5:" + Self.fingerprint,
    ] {
      #expect(throws: HomeError.self) { try CertificateFingerprint(text) }
    }
  }

  @Test func choosesLocality() throws {
    let expected = [
      ("/run/hub.sock", "local"), ("192.168.1.10:1", "local"), ("[fe80::1%eth0]:1", "local"), ("hub.local:1", "local"),
      ("172.31.0.1:1", "local"), ("172.32.0.1:1", "remote"), ("127.0.0.1:1", "local"), ("169.254.1.1:1", "local"),
      ("[febf::1]:1", "local"), ("[fec0::1]:1", "remote"), ("[fd12::1]:1", "local"), ("[::1]:1", "local"),
      // 00fc::, not fc00::/7.
      ("[fc::1]:1", "remote"), ("[2001:db8::1]:1", "remote"), ("wss://localhost", "local"),
      ("wss://hub.example", "remote"), ("203.0.113.1:1", "remote"),
    ]
    for (text, locality) in expected { #expect("\(HubRoute(try HubAddress(text)).locality)" == locality, "\(text)") }
  }

  @Test func storesInvitation() throws {
    let scratch = Scratch()
    #expect(try HubInvitation.stored(in: scratch.state) == nil && !HubInvitation.isStored(in: scratch.state))
    let invitation = try Self.invitation([.host("192.168.1.10", port: 5550)])
    let authorities = scratch.state.root + "/own.pem"
    try Files.replace(authorities, withSecret: Data("PEM".utf8))
    try invitation.store(in: scratch.state, authorities: authorities)
    for path in [scratch.state.invitation, scratch.state.authorities] {
      #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
    }
    #expect(try HubInvitation.stored(in: scratch.state) == invitation)
    let options = try #require(try HubClient.Options(joinedIn: scratch.state, logger: ServedHome.logger))
    #expect(options.token == Self.token && options.home == Self.home && options.routes.count == 1)
    #expect(options.trust == HubTrust(fingerprint: invitation.fingerprint, authorities: scratch.state.authorities))
    // A directory that has joined a hub can't have a home of its own.
    #expect(throws: HomeError.self) { try StoredNames(scratch.state).withDatabase { _ in } }
    try Data("hearth://join/".utf8).write(to: URL(filePath: scratch.state.invitation))
    #expect(throws: HomeError.self) { try HubInvitation.stored(in: scratch.state) }
    try HubInvitation.remove(from: scratch.state)
    #expect(!HubInvitation.isStored(in: scratch.state))
    try HubInvitation.remove(from: scratch.state)
  }

  @Test func recognizesBearerTokens() {
    #expect(BearerToken.token(in: BearerToken.value("abc")) == "abc")
    #expect(BearerToken.token(in: "bearer abc") == "abc")
    for value in ["", "Bearer", "Bearer ", "Basic abc", "Bearer a b", "abc"] {
      #expect(BearerToken.token(in: value) == nil)
    }
  }
}
