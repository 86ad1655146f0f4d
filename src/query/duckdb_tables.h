// SPDX-License-Identifier: MIT
// The tables of a capture in DuckDB, made when a statement names them: Parquet files are read in
// place, through views that widen numbers; tables of an SQLite file are loaded as a whole. Short
// views on top.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/file_descriptor.h"
#include "base/result.h"
#include "ingest/duckdb_session.h"
#include "ingest/table_source.h"
#include "query/views.h"
#include "trace/trace.h"

namespace nsys {

// Descriptors of the Parquet files, so that DuckDB is given paths that cannot mean anything else.
class OpenFiles {
 public:
  Status Open(const std::string& folder, const std::vector<SourceTable>& tables);
  bool empty() const { return files_.empty(); }
  // The path by which DuckDB opens the file of `table`.
  std::string PathOf(const std::string& table) const;
  // Every path by which DuckDB may reach these files.
  std::vector<std::string> AllPaths() const;

 private:
  std::map<std::string, FileDescriptor> files_;  // by table
};

class DuckdbTables {
 public:
  // `source` null: all tables stay empty.
  DuckdbTables(DuckdbDatabase& database, const Schema& schema, const TableSource* source);

  // Settles what DuckDB may touch from now on: the files of the capture, nothing else.
  Status Confine();

  // Makes the tables and views of these names (in lower case) that the capture has. `stop` ends the
  // loading early.
  Status Make(const std::set<std::string>& names, const std::function<bool()>& stop);

  // Loads the tables that are read in place, after all: their texts are not what they say.
  Status LoadInPlaceTables(const std::function<bool()>& stop);

  // Names of tables and views, as they are written.
  std::vector<std::string> Names() const;

 private:
  Status Execute(const std::string& sql);
  Status MakeTable(const SourceTable& table, bool in_place, const std::function<bool()>& stop);
  Status MakeParquetView(const SourceTable& table);
  Status Load(const SourceTable& table, const std::function<bool()>& stop);

  DuckdbDatabase& database_;
  DuckdbConnection connection_;
  const Schema& schema_;
  const TableSource* source_;
  std::vector<ShortView> views_;
  OpenFiles files_;
  std::set<std::string> made_;
  std::set<std::string> in_place_;
};

}  // namespace nsys
