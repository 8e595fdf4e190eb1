/** Claims about how calls of programs are made: order of turns. */
package io.github.iree4j.call;
