import Hub

// Text that a user received from someone else: the invitation of a hub.
extension FuzzTarget {
  static let invitation = FuzzTarget(name: "invitation", seeds: invitations, run: invitation)

  private static func invitation(_ input: [UInt8]) {
    guard let invitation = try? HubInvitation(String(decoding: input, as: UTF8.self)) else { return }
    guard let again = try? HubInvitation("\(invitation)"), again == invitation else {
      finding("an invitation changes when it is written again: \(invitation)")
    }
  }

  @Sendable private static func invitations() -> [[UInt8]] {
    let token = String(repeating: "0F", count: 16)
    let rest = "&home=\(token)&name=Ada%20L&role=guest"
    return [
      "hearth://join/?address=192.168.1.10:5550&token=\(token)&fingerprint=\(token)\(token)\(rest)",
      "hearth://join/?address=wss://hub.example/ws&address=%5B::1%5D:1&token=\(token)&fingerprint=\(token)\(token)\(rest)",
      "hearth://join?address=wss://hub.example:8443&address=/run/hub.sock&token=\(token)\(rest)",
    ].map { Array($0.utf8) }
  }
}
