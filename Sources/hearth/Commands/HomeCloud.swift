import ArgumentParser
import Foundation
import HearthHome
import Runtime

// `hearth home cloud`.
extension HomeCommands {
  struct Cloud: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "cloud", abstract: "Manage accounts of vendor clouds, whose devices are part of the home.",
      discussion: """
        Uses the cloud-to-cloud protocol of Google's smart home (SYNC, QUERY, EXECUTE). Devices of an account have the \
        locality remote. A device that is also paired over Matter remains one device, and the cloud is used while Matter is \
        not available. For example:
          hearth home cloud add Acme https://home.acme.example/fulfillment --token-file acme.token
          hearth home cloud list
        """,
      subcommands: [List.self, Add.self, Remove.self])
  }
}

extension HomeCommands.Cloud {
  struct Add: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "add", abstract: "Add an account, or change its address and token.",
      discussion: """
        Queries the devices of the account at once; a process that follows the devices, such as a hub, queries them \
        periodically. The token is stored in the home's database, which only the current user can read, and is sent only to \
        this address.
        """)
    @OptionGroup var options: GlobalOptions
    @Argument(help: "The name of the account.") var name: String
    @Argument(help: ArgumentHelp("The fulfillment address: https://…, or http:// on this machine.", valueName: "url"))
    var address: String
    @Option(
      help: ArgumentHelp("A file with the token of the account. Default: HEARTH_CLOUD_TOKEN.", valueName: "file"),
      completion: .file())
    var tokenFile: String?

    func run() async throws {
      let token = try token()
      let (account, devices) = try await add(token)
      options.output.result(
        CloudReport.json(account, devices),
        "added \(account.name)" + (devices.isEmpty ? "" : ": \(devices.joined(separator: ", "))"))
    }

    /// - Returns: the account, and the names of its devices, which are empty if the first query failed.
    private func add(_ token: String) async throws -> (account: CloudAccount, devices: [String]) {
      try await options.withHome { session in
        let added = try await session.addCloudAccount(name, address: address, token: token)
        do throws(HomeError) { try await session.refreshCloudAccount(added.name) } catch {
          options.output.progress("added \(added.name); the first query failed and will be retried: \(error)")
        }
        let account = try await session.cloudAccounts.first { $0.name == added.name } ?? added
        return (account, CloudReport.devices(of: account, await session.state))
      }
    }

    private func token() throws -> String {
      guard let tokenFile else {
        guard let token = ProcessInfo.processInfo.environment["HEARTH_CLOUD_TOKEN"] else {
          throw HomeError(.badArguments, "missing token; use --token-file FILE or set HEARTH_CLOUD_TOKEN")
        }
        return token
      }
      return String(decoding: try NamedFile.bytes(tokenFile), as: UTF8.self)
    }
  }

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list", abstract: "List the accounts and their state, without tokens.")
    @OptionGroup var options: GlobalOptions

    func run() async throws {
      let (accounts, state) = try await options.withHome { (try await $0.cloudAccounts, await $0.state) }
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
      commandName: "remove", abstract: "Remove an account from the home.",
      discussion: "Also removes its devices, except those paired over Matter.")
    @OptionGroup var options: GlobalOptions
    @Argument(help: "The account.") var name: String

    func run() async throws {
      let (account, devices) = try await options.withHome { try await $0.removeCloudAccount(name) }
      options.output.result(
        CloudReport.json(account, devices),
        "removed \(account.name)" + (devices.isEmpty ? "" : " and its devices: \(devices.joined(separator: ", "))"))
    }
  }
}

/// Formats cloud accounts as text and JSON.
enum CloudReport {
  static func devices(of account: CloudAccount, _ state: HomeState) -> [String] {
    account.devices.compactMap { state.devices[$0]?.name }
  }

  /// `ok`, `failing`, or `new` for an account that has not been queried yet.
  static func state(_ account: CloudAccount) -> String {
    account.failure != nil ? "failing" : account.lastContact == nil ? "new" : "ok"
  }

  static func json(_ account: CloudAccount, _ devices: [String]) -> JSON {
    [
      "name": .string(account.name), "address": .string(account.address),
      "devices": .texts(devices), "state": .string(state(account)),
      "lastContact": .optional(account.lastContact.map { ClockText.iso(milliseconds: $0 / 1000) }),
      "failure": .optional(account.failure),
    ]
  }
}
