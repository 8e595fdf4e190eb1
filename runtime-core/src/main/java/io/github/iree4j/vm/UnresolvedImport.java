package io.github.iree4j.vm;

import io.github.iree4j.status.FailureDetail;

/**
 * A module cannot be linked because something that it imports is missing.
 *
 * @param importer the module that imports
 * @param module the module imported from
 * @param moduleIsThere whether the module exists, but lacks what is imported or has too low a version
 */
public record UnresolvedImport(String importer, String module, boolean moduleIsThere) implements FailureDetail {}
