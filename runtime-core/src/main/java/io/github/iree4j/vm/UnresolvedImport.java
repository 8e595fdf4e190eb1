package io.github.iree4j.vm;

import io.github.iree4j.status.FailureDetail;

/**
 * A module cannot be linked because something that it imports is not there.
 *
 * @param importer the module that imports
 * @param module the module imported from
 * @param moduleIsThere whether there is such a module, without what is imported or in too low a version
 */
public record UnresolvedImport(String importer, String module, boolean moduleIsThere) implements FailureDetail {}
