package io.github.iree4j.vm;

import io.github.iree4j.status.FailureDetail;

/**
 * Detail of a failure to link a module: an import is missing.
 *
 * @param importer the importing module
 * @param module the module imported from
 * @param moduleIsThere whether the module exists, but lacks the import or has too low a version
 */
public record UnresolvedImport(String importer, String module, boolean moduleIsThere) implements FailureDetail {}
