import Foundation
import Testing

/// Checks that the documents refer to existing files, targets and types.
@Suite("Documents") struct DocumentLinkTests {
  /// The documents of the repository, by path.
  private static let documents: [(path: String, text: String)] = {
    let root = PackageManifest.root
    let articles = ["Sources", "docs"].flatMap { folder -> [String] in
      let files = FileManager.default.enumerator(atPath: root.appending(path: folder).path)
      return (files?.compactMap { $0 as? String } ?? []).filter { $0.hasSuffix(".md") }.map { "\(folder)/\($0)" }
    }
    return (["README.md", "CONTRIBUTING.md", "ARCHITECTURE.md"] + articles.sorted()).map { path in
      (path, (try? String(contentsOf: root.appending(path: path), encoding: .utf8)) ?? "")
    }
  }()

  /// Returns the names of files and folders that DocC resolves in a catalog, without extension.
  private static func articles(besides path: String) -> Set<String> {
    let folder = PackageManifest.root.appending(path: path).deletingLastPathComponent()
    let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return Set(files.filter { $0.hasSuffix(".md") }.map { String($0.dropLast(3)) })
  }

  @Test("links point to existing files") func linksPointToFiles() {
    #expect(Self.documents.count > 8)
    var count = 0
    for (path, text) in Self.documents {
      let folder = PackageManifest.root.appending(path: path).deletingLastPathComponent()
      for match in text.matches(of: #/\]\(([^)\s]+)\)/#) where !match.1.contains("://") {
        count += 1
        // A link to a heading of the same page has an empty path.
        guard let file = match.1.split(separator: "#", omittingEmptySubsequences: false).first, !file.isEmpty else {
          continue
        }
        let exists = FileManager.default.fileExists(atPath: folder.appending(path: String(file)).path)
        #expect(exists, "\(path): the link \(match.1) points to no file")
      }
    }
    #expect(count > 20)
  }

  @Test("links between articles point to articles of the same catalog") func documentationLinksPointToArticles() {
    var count = 0
    for (path, text) in Self.documents where path.contains(".docc/") {
      let articles = Self.articles(besides: path)
      for match in text.matches(of: #/<doc:([\w-]+)[^>]*>/#) {
        count += 1
        #expect(articles.contains(String(match.1)), "\(path): \(match.0) points to no article")
      }
    }
    #expect(count > 3)
  }

  @Test("each catalog has a root page that lists its articles") func catalogsHaveRootPages() throws {
    let catalogs = Dictionary(grouping: Self.documents.filter { $0.path.contains(".docc/") }) {
      String($0.path.split(separator: "/")[1])
    }
    #expect(catalogs.count >= 3)
    for (target, pages) in catalogs.sorted(by: { $0.key < $1.key }) {
      let root = try #require(
        pages.first { $0.text.hasPrefix("# ``\(target)``\n") }, "the catalog of \(target) has no root page")
      for page in pages where page.path != root.path {
        let name = page.path.split(separator: "/").last?.dropLast(3) ?? ""
        #expect(root.text.contains("<doc:\(name)>"), "\(root.path) does not list \(name)")
      }
    }
  }

  @Test("comments refer to existing articles") func commentsReferToArticles() {
    var articles: [String: Set<String>] = [:]
    for (path, _) in Self.documents where path.contains(".docc/") {
      articles[String(path.split(separator: "/")[1])] = Self.articles(besides: path)
    }
    for file in Repository.sources where !file.text.offsets(of: "<doc:").isEmpty {
      for match in file.text.matches(of: #/<doc:([\w-]+)[^>]*>/#) {
        #expect(
          articles[file.target, default: []].contains(String(match.1)), "\(file.path): \(match.0) points to no article")
      }
    }
  }

  @Test("comments refer to existing documents") func commentsReferToDocuments() throws {
    for folder in ["Sources", "Tests", "devices", "scripts"] {
      let base = PackageManifest.root.appending(path: folder)
      let files = FileManager.default.enumerator(atPath: base.path)?.compactMap { $0 as? String } ?? []
      for file in files.sorted() {
        guard let text = try? String(contentsOf: base.appending(path: file), encoding: .utf8), text.contains(".md")
        else { continue }
        for match in text.matches(of: #/\b[A-Z]{2,}\.md\b/#) {
          let path = PackageManifest.root.appending(path: String(match.0)).path
          #expect(FileManager.default.fileExists(atPath: path), "\(folder)/\(file): \(match.0) does not exist")
        }
      }
    }
  }

  @Test("ARCHITECTURE.md names each target") func architectureNamesTargets() throws {
    let text = try #require(Self.documents.first { $0.path == "ARCHITECTURE.md" }?.text)
    let rows = text.split(separator: "\n").filter { $0.hasPrefix("| `") }
      .compactMap { $0.split(separator: "|").first }
    for target in PackageManifest.current.targets {
      #expect(rows.contains { $0.contains("`\(target)`") }, "ARCHITECTURE.md has no row for \(target)")
    }
  }

  @Test("ARCHITECTURE.md names existing types and files") func architectureNamesTypes() throws {
    let text = try #require(Self.documents.first { $0.path == "ARCHITECTURE.md" }?.text)
    var names = Set(PackageManifest.current.targets).union(["RepositoryTests", "SQLite", "TheHomeModel", "WebSocket"])
    for file in Repository.sources {
      for keyword in ["struct ", "enum ", "class ", "actor ", "protocol ", "typealias "] {
        for offset in file.text.offsets(of: keyword) {
          let rest = file.text[file.text.index(utf8: offset + keyword.utf8.count)...]
          if rest.first?.isUppercase == true { names.insert(String(rest.prefix { $0.isLetter || $0.isNumber })) }
        }
      }
    }
    // The types of clusters are generated.
    let clusters = PackageManifest.root.appending(path: "Sources/MatterClusters/Clusters").path
    names.formUnion(
      try FileManager.default.contentsOfDirectory(atPath: clusters).map { $0.prefix { $0 != "." } }.map(String.init))
    // Compound names only: a single word may be prose.
    for match in text.matches(of: #/\b[A-Z][a-z]+(?:[A-Z][A-Za-z]*)+\b|\b[A-Z]{2,}[A-Z][a-z]\w+\b/#) {
      let name = String(match.0)
      #expect(names.contains(name), "no type is named \(name)")
    }
    for match in text.matches(of: #/\b(?:Sources|Tests)\/[\w\/.+-]+/#) {
      let path = match.0.hasSuffix(".") ? match.0.dropLast() : match.0
      #expect(
        FileManager.default.fileExists(atPath: PackageManifest.root.appending(path: String(path)).path),
        "no file \(path)")
    }
  }
}
