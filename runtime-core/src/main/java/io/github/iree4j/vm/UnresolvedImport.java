package io.github.iree4j.vm;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.status.FailureDetail;

/**
 * Detail of a failure to link a module, or of a call of an optional import: the import is missing.
 *
 * @param importer the importing module
 * @param module the module imported from
 * @param moduleIsThere whether the module exists, but lacks the import or has too low a version; in a call, whether another
 *     import from the module was found
 */
@NotForApplications
public record UnresolvedImport(String importer, String module, boolean moduleIsThere) implements FailureDetail {}
