package io.github.iree4j.status;

import io.github.iree4j.api.NotForApplications;

/**
 * The detail of failures caused by a mapped file that was changed or touched while in use, or whose file system gives no
 * answer: neither the program nor the device has failed.
 *
 * <p>Java code may read beyond the end of a mapped file that has become shorter. The virtual machine survives the
 * signal and throws {@link InternalError}.
 */
@NotForApplications
public record FileFault() implements FailureDetail {
    /**
     * Returns the failure of a read; INTERNAL when the virtual machine threw for another reason.
     *
     * @param what the file or program that was read
     * @param fault the error thrown by the virtual machine
     * @return DATA_LOSS with the remedy
     */
    public static IreeException of(String what, InternalError fault) {
        if (!String.valueOf(fault.getMessage()).contains("unsafe memory access")) {
            return IreeException.of(StatusCode.INTERNAL, "%s: %s".formatted(what, fault), fault);
        }
        return IreeException.of(
                StatusCode.DATA_LOSS,
                "%s: a mapped file has become shorter while being read (%s); write files under another name and rename the files, or do not map files"
                        .formatted(what, fault.getMessage()),
                fault,
                new FileFault());
    }
}
