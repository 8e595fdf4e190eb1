package io.github.iree4j.status;

import org.jspecify.annotations.Nullable;

/**
 * A device has failed: no call on the device succeeds any more. Calls of the program succeed once the program is loaded
 * on another device, or on the device opened anew, which may take a restart of the process. The code is the code of the
 * cause, usually ABORTED; {@link DeviceLost} names the device.
 */
public final class DeviceLostException extends IreeException {

    private static final long serialVersionUID = 1L;

    DeviceLostException(StatusCode code, String message, @Nullable Throwable cause, @Nullable FailureDetail detail) {
        super(code, message, cause, detail);
    }

    /**
     * Returns the failure of work on a lost device. Devices call this method once, when the device is lost, and fail
     * all work with the result.
     *
     * @param device the id of the device
     * @param cause the reason of the loss
     * @return the cause itself if the cause is the loss of this device already; otherwise a failure with the code and
     *     the message of the cause
     */
    public static DeviceLostException by(String device, IreeException cause) {
        DeviceLost loss = new DeviceLost(device);
        return cause instanceof DeviceLostException same
                        && same.detail(DeviceLost.class).filter(loss::equals).isPresent()
                ? same
                : new DeviceLostException(cause.code(), cause.getMessage(), cause, loss);
    }
}
