internal import CAvahi
internal import Foundation
internal import Glibc
internal import MatterCrypto
internal import MatterProtocol

/// Checks whether the host meets the requirements of nodes. Nothing is changed, and nothing is sent except one datagram
/// to the multicast DNS group on each selected interface.
public enum HostDiagnosis {
  /// Checks the selected interfaces, and lists the others.
  public static func interfaces(_ selection: InterfaceSelection) -> [HostCheck] {
    let all: [NetworkInterface]
    let chosen: [NetworkInterface]
    do throws(NetworkError) {
      all = try NetworkInterfaces.all()
      chosen = try NetworkInterfaces.select(selection, from: all)
    } catch {
      return [HostCheck("interfaces", .problem, "\(error)", advice: "name one that is up with --interface")]
    }
    let checks = chosen.map { check($0) }
    let others = all.filter { other in
      !chosen.contains { $0.name == other.name } && other.isUp && !other.addresses.isEmpty
    }
    guard !others.isEmpty else { return checks }
    let names = others.map(\.name).joined(separator: ", ")
    return checks + [
      HostCheck("interfaces", .ok, "not used: \(names)", advice: "to use one, add --interface NAME, or --interface all")
    ]
  }

  private static func check(_ interface: NetworkInterface) -> HostCheck {
    let addresses = interface.addresses.map { "\($0.ip)" }.joined(separator: ", ")
    let isIPv6 = interface.addresses.contains { $0.ip.isIPv6 }
    if !isIPv6 {
      return HostCheck(
        "interfaces", interface.isLoopback ? .note : .problem, "\(interface.name) has no IPv6 address (\(addresses))",
        advice: "Matter needs IPv6: sysctl net.ipv6.conf.\(interface.name).disable_ipv6=0")
    }
    if !interface.isLoopback, !hasMulticast(interface.name) {
      return HostCheck(
        "interfaces", .problem, "\(interface.name) has no multicast",
        advice: "discovery needs it: ip link set \(interface.name) multicast on; or say where devices are with --at")
    }
    return HostCheck("interfaces", .ok, "\(interface.name): \(addresses)")
  }

  /// IFF_MULTICAST of the interface's flags.
  private static func hasMulticast(_ name: String) -> Bool {
    guard let text = try? String(contentsOfFile: "/sys/class/net/\(name)/flags", encoding: .utf8) else { return true }
    let digits = text.trimmingCharacters(in: .whitespacesAndNewlines).dropFirst(2)
    return (UInt32(digits, radix: 16) ?? 0x1000) & 0x1000 != 0
  }

  /// Checks that a datagram sent to the multicast DNS group on each interface and in each family is received.
  public static func multicast(_ selection: InterfaceSelection) -> [HostCheck] {
    NetworkInterfaces.usable(selection).map { multicast($0) }
  }

  /// - Parameter open: opens a multicast DNS socket on an interface, for IPv6 if true.
  static func multicast(
    _ interface: NetworkInterface,
    open: (NetworkInterface, Bool) throws(NetworkError) -> BoundSocket = { interface, isIPv6 throws(NetworkError) in
      try .multicast(on: interface, isIPv6: isIPv6)
    }
  ) -> HostCheck {
    let subject = "multicast"
    let name = interface.name
    // On loopback, the processes of a user also find each other through the registry.
    let level: HostCheck.Level = interface.isLoopback ? .note : .problem
    for isIPv6 in MulticastRoute.families(on: interface) {
      let family = isIPv6 ? "IPv6" : "IPv4"
      do throws(NetworkError) {
        let socket = try open(interface, isIPv6)
        defer { close(socket.descriptor) }
        if echoes(socket) { continue }
        return HostCheck(
          subject, level, "\(name) does not carry multicast over \(family)",
          advice: "ip link set \(name) multicast on; check its routes and the firewall")
      } catch .portInUse {
        return HostCheck(
          subject, level, "no multicast DNS on \(name): another program holds UDP port \(MulticastDNS.port) alone",
          advice: "end it (ss -ulpn 'sport = :\(MulticastDNS.port)' names it), or let it set SO_REUSEPORT")
      } catch {
        return HostCheck(
          subject, level, "no multicast DNS over \(family) on \(name): \(error)",
          advice: "without multicast, say where devices are with --at")
      }
    }
    return HostCheck(subject, .ok, "multicast DNS works on \(name)")
  }

  /// Whether a socket of the multicast DNS group receives its own datagram within a second.
  private static func echoes(_ socket: BoundSocket) -> Bool {
    // A query without questions, with a random identifier.
    var random = SystemRandomSource()
    let identifier = UInt16.random(in: 1...UInt16.max, using: &random)
    let query = [UInt8(identifier >> 8), UInt8(identifier & 0xFF)] + [UInt8](repeating: 0, count: 10)
    let sent = socket.local.withSystemAddress { sendto(socket.descriptor, query, query.count, 0, $0, $1) }
    guard sent == query.count else { return false }
    let end = HostClock.now() + .seconds(1)
    var bytes = [UInt8](repeating: 0, count: 2048)
    while HostClock.now() < end {
      var descriptor = pollfd(fd: socket.descriptor, events: Int16(POLLIN), revents: 0)
      guard poll(&descriptor, 1, 100) >= 0 || errno == EINTR else { return false }
      while case let count = recv(socket.descriptor, &bytes, bytes.count, 0), count > 0 {
        if Array(bytes.prefix(count)) == query { return true }
      }
    }
    return false
  }

  /// Checks whether the Avahi daemon answers, and whether the interfaces need it.
  public static func avahi(_ selection: InterfaceSelection) -> HostCheck {
    let isNeeded = NetworkInterfaces.usable(selection).contains { !$0.isLoopback }
    switch AvahiDaemon.probe() {
    case .success(let version):
      return HostCheck("avahi", .ok, "\(version) answers" + (isNeeded ? "" : "; it is not used on loopback"))
    case .failure(let failure):
      return HostCheck(
        "avahi", isNeeded ? .note : .ok, "no daemon answers (\(failure.reason)); hearth does DNS-SD itself",
        advice: isNeeded
          ? "fine unless another responder runs on this host; to use Avahi, start avahi-daemon and D-Bus" : nil)
    }
  }

  /// Checks the limit of open files.
  public static func descriptors() -> HostCheck {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
      return HostCheck("descriptors", .note, "the limit of open files is not known")
    }
    let count = limit.rlim_cur
    let text = count >= UInt64(Int64.max) ? "no limit of open files" : "\(count) open files at a time"
    let advice = "raise it with ulimit -n 8192"
    if count < 256 {
      return HostCheck("descriptors", .problem, "\(text), not enough for several devices", advice: advice)
    }
    if count < 1024 { return HostCheck("descriptors", .note, "\(text), about \(count / 8) devices", advice: advice) }
    return HostCheck("descriptors", .ok, text)
  }

  /// Whether a time service synchronizes the host's clock.
  public enum ClockSynchronization: Hashable, Sendable {
    case unknown, none
    /// - Parameter error: the maximum error.
    case kept(error: Duration)

    /// Returns the state that the kernel reports.
    public static func current() -> Self {
      var error = 0
      return switch hearth_clock_synchronized(&error) {
      case 1: .kept(error: .microseconds(error))
      case 0: .none
      default: .unknown
      }
    }
  }

  /// Checks the wall clock, which certificate validity depends on.
  /// - Parameter executable: the path of the executable; the clock can't be earlier than its build time.
  public static func clock(
    executable: String, synchronization: ClockSynchronization = .current()
  ) -> HostCheck {
    let now = HostClock.unixMicroseconds() / 1_000_000
    var status = stat()
    let built = stat(executable, &status) == 0 ? Int64(status.st_mtim.tv_sec) : 0
    // 2025-01-01.
    guard now >= max(built, 1_735_689_600) else {
      return HostCheck(
        "clock", .problem, "the wall clock is behind, at \(date(now))",
        advice: "set it, or start a time service: certificates of devices are not valid yet")
    }
    switch synchronization {
    case .kept(let error):
      return HostCheck("clock", .ok, "\(date(now)), synchronized (error at most \(error.milliseconds) ms)")
    case .none:
      return HostCheck(
        "clock", .note, "\(date(now)), not synchronized",
        advice: "start a time service, such as chrony or systemd-timesyncd; a container has the clock of its host")
    case .unknown: return HostCheck("clock", .ok, "\(date(now)); whether it is synchronized is not known")
    }
  }

  private static func date(_ seconds: Int64) -> String {
    Date(timeIntervalSince1970: Double(seconds)).formatted(Date.ISO8601FormatStyle())
  }

  /// Checks that Matter's UDP port is free on the selected interfaces.
  public static func ports(_ selection: InterfaceSelection) -> HostCheck {
    for ip in NetworkInterfaces.usable(selection).flatMap(\.addresses).map(\.ip) {
      guard let descriptor = try? BoundSocket.open(for: ip) else { continue }
      defer { close(descriptor) }
      let address = MatterProtocol.SocketAddress(ip, port: 5540)
      if BoundSocket.bind(descriptor, to: address) == EADDRINUSE {
        return HostCheck(
          "ports", .note, "UDP port 5540 is in use on \(ip)", advice: "devices use other ports; or end its owner")
      }
    }
    return HostCheck("ports", .ok, "UDP port 5540 is free")
  }

  /// Checks a directory for secrets: existence, owner, permissions and free space.
  public static func directory(_ path: String) -> HostCheck {
    let subject = "state directory"
    var status = stat()
    guard stat(path, &status) == 0 else {
      var parent = path
      while access(parent, F_OK) != 0, parent != "/", !parent.isEmpty {
        parent = (parent as NSString).deletingLastPathComponent
      }
      guard access(parent.isEmpty ? "." : parent, W_OK) == 0 else {
        return HostCheck(subject, .problem, "\(path) can't be made in \(parent)", advice: "choose another with --state")
      }
      return HostCheck(subject, .ok, "\(path) does not exist yet")
    }
    guard status.st_mode & S_IFMT == S_IFDIR else {
      return HostCheck(subject, .problem, "\(path) is not a directory", advice: "choose another with --state")
    }
    guard status.st_uid == geteuid() else {
      return HostCheck(
        subject, .problem, "\(path) belongs to another user", advice: "choose another with --state, or chown it")
    }
    guard status.st_mode & 0o022 == 0 else {
      return HostCheck(subject, .problem, "\(path) can be written by other users", advice: "chmod 700 \(path)")
    }
    guard access(path, R_OK | W_OK | X_OK) == 0 else {
      return HostCheck(subject, .problem, "\(path) can't be written", advice: "chmod 700 \(path)")
    }
    var space = statvfs()
    if statvfs(path, &space) == 0 {
      let free = UInt64(space.f_bavail) * UInt64(space.f_frsize) / 1_000_000
      if free < 100 {
        return HostCheck(
          subject, .problem, "\(path) has \(free) MB left", advice: "make room, or choose another with --state")
      }
    }
    return HostCheck(subject, .ok, path)
  }
}
