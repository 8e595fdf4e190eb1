/** Claims about the proactor. */
package io.github.iree4j.async.io;
