/** The marker of public types that are not part of the promise to applications. */
@NotForApplications
@NullMarked
package io.github.iree4j.api;

import org.jspecify.annotations.NullMarked;
