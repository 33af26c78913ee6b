import ArgumentParser
import Foundation
import Home
import Runtime

// `hearth home cloud`.
extension HomeCommands {
  struct Cloud: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Accounts at the clouds of makers, whose devices are in the home, too.",
      discussion: """
        A cloud is asked by the cloud-to-cloud protocol of Google's smart home (SYNC, QUERY, EXECUTE). Its devices are of \
        locality remote. One that is there by Matter, too, is one device, and is reached through the cloud where that is all \
        that works:
          hearth home cloud add Acme https://home.acme.example/fulfillment --token-file acme.token
          hearth home cloud list
        """,
      subcommands: [List.self, Add.self, Remove.self])
  }
}

extension HomeCommands.Cloud {
  struct Add: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Add an account, or give one another address and token.",
      discussion: """
        It is asked for its devices at once, and from time to time by whoever follows them, as a hub does. The token is kept in the home's database, which only you can read, and sent to this address alone.
        """)
    @OptionGroup var options: GlobalOptions
    @Argument(help: "What the account is called.") var name: String
    @Argument(help: ArgumentHelp("Where its fulfilment is: https://…, or http:// on this machine.", valueName: "url"))
    var address: String
    @Option(
      help: ArgumentHelp("A file with the account's token. Default: HEARTH_CLOUD_TOKEN.", valueName: "file"),
      completion: .file())
    var tokenFile: String?

    func run() async throws {
      let token = try token()
      let (account, devices) = try await options.output.tellingWaits { try await add(token) }
      options.output.result(
        CloudReport.json(account, devices),
        "added \(account.name)" + (devices.isEmpty ? "" : ": \(devices.joined(separator: ", "))"))
    }

    /// - Returns: the account, and the names of its devices as far as it told them.
    private func add(_ token: String) async throws -> (account: CloudAccount, devices: [String]) {
      var home = HomeController.Options(state: try options.stateDirectory, logger: options.logger)
      // No Matter device is looked for.
      home.discovery = .off
      return try await Home(home).beforeClosing { session in
        let added = try await session.addCloudAccount(name, address: address, token: token)
        do throws(HomeError) { try await session.refreshCloudAccount(added.name) } catch {
          options.output.progress("\(added.name) is added, and is asked again from time to time: \(error)")
        }
        let account = try await session.cloudAccounts.first { $0.name == added.name } ?? added
        return (account, CloudReport.devices(of: account, await session.state))
      }
    }

    private func token() throws -> String {
      guard let tokenFile else {
        guard let token = ProcessInfo.processInfo.environment["HEARTH_CLOUD_TOKEN"] else {
          throw HomeError(.badArguments, "an account needs a token; say --token-file FILE, or set HEARTH_CLOUD_TOKEN")
        }
        return token
      }
      guard let data = FileManager.default.contents(atPath: tokenFile) else {
        throw HomeError(.notFound, "there is no file \(tokenFile) that can be read")
      }
      return String(decoding: data, as: UTF8.self)
    }
  }

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "The accounts, and how they are doing. Not their tokens.")
    @OptionGroup var options: GlobalOptions

    func run() async throws {
      let (accounts, state) = try StoredNames(try options.stateDirectory).withDatabase { database throws(HomeError) in
        (try database.cloudAccounts(), try database.names())
      }
      let now = Home.now()
      var table = Table("ACCOUNT", "ADDRESS", "DEVICES", "STATE", "LAST CONTACT")
      for account in accounts {
        let names = CloudReport.devices(of: account, state)
        let contact = account.lastContact.map { TimeSpan.ago(milliseconds: max(0, now - $0 / 1000)) }
        table.add(
          account.name, account.address, names.isEmpty ? "–" : names.joined(separator: ", "),
          account.failure ?? CloudReport.state(account), contact ?? "–")
      }
      options.output.result(
        .array(accounts.map { CloudReport.json($0, CloudReport.devices(of: $0, state)) }),
        accounts.isEmpty ? "" : table.text)
    }
  }

  struct Remove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Take an account out of the home.",
      discussion: "Its devices go with it, but for those that are there by Matter, too.")
    @OptionGroup var options: GlobalOptions
    @Argument(help: "The account.") var name: String

    func run() async throws {
      let (name, time) = (name, Home.now() * 1000)
      let (account, devices) = try StoredNames(try options.stateDirectory).withDatabase { database throws(HomeError) in
        try database.removeCloudAccount(name, at: time)
      }
      options.output.result(
        CloudReport.json(account, devices),
        "removed \(account.name)" + (devices.isEmpty ? "" : ", and with it \(devices.joined(separator: ", "))"))
    }
  }
}

/// What there is to say of cloud accounts.
enum CloudReport {
  static func devices(of account: CloudAccount, _ state: HomeState) -> [String] {
    account.devices.compactMap { state.devices[$0]?.name }
  }

  /// `ok`, `failing`, or `new` for one that was not asked yet.
  static func state(_ account: CloudAccount) -> String {
    account.failure != nil ? "failing" : account.lastContact == nil ? "new" : "ok"
  }

  static func json(_ account: CloudAccount, _ devices: [String]) -> JSON {
    [
      "name": .string(account.name), "address": .string(account.address),
      "devices": .array(devices.map { .string($0) }), "state": .string(state(account)),
      "lastContact": .optional(account.lastContact.map { ClockText.iso(milliseconds: $0 / 1000) }),
      "failure": .optional(account.failure),
    ]
  }
}
