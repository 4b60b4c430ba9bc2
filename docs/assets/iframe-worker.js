// A browser starts no worker for a page that was opened from disk, and the
// site's search is one. There, and only there, an invisible frame carries out
// the worker's script: it sees messages as a worker does.
if (location.protocol === "file:")
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      frame.title = "search";
      document.documentElement.append(frame);
      this.inside = frame.contentWindow;
      this.inside.postMessage = (data) =>
        this.dispatchEvent(new MessageEvent("message", { data }));
      const script = this.inside.document.createElement("script");
      script.src = url;
      this.ready = new Promise((loaded, failed) => {
        script.onload = loaded;
        script.onerror = failed;
      });
      this.inside.document.documentElement.append(script);
    }
    postMessage(data) {
      this.ready.then(() =>
        this.inside.dispatchEvent(new this.inside.MessageEvent("message", { data })),
      );
    }
    terminate() {
      this.inside.frameElement.remove();
    }
  };
