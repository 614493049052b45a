// Passes dynamic arrays to C. Not every simulator passes them through DPI, so they go in fixed chunks into a tensor of
// u32 (words) or u64 (addresses) in C, called a list. Used by td_tensor, td_memory and td_bank_set. A list is known by
// its handle, 0 for an empty one; whoever makes a list destroys it.
class td_list;
  // Makes a list of zeros.
  static function td_status_e create(input int count, output longint unsigned list_handle, output string message);
    list_handle = 0;
    message = "";
    if (count == 0) return TD_OK;
    return td_status_e'(td_dpi_pkg::td_dpi_list_create(count, 32, list_handle, message));
  endfunction

  static function void destroy(input longint unsigned list_handle);
    string      message;
    td_status_e status;
    if (list_handle == 0) return;
    status = td_status_e'(td_dpi_pkg::td_dpi_tensor_destroy(list_handle, message));
    if (status != TD_OK) td_reporter::report(status, message);
  endfunction

  static function td_status_e from_words(input td_words_t words, output longint unsigned list_handle,
                                         output string message);
    td_chunk_t  chunk;
    td_status_e status;
    int         count;
    status = create(words.size(), list_handle, message);
    for (int first = 0; first < words.size() && status == TD_OK; first += int'(td_dpi_pkg::ListWords)) begin
      count = words.size() - first;
      if (count > int'(td_dpi_pkg::ListWords)) count = int'(td_dpi_pkg::ListWords);
      for (int i = 0; i < count; i++) chunk[i] = words[first+i];
      status = td_status_e'(td_dpi_pkg::td_dpi_list_put(list_handle, first, count, chunk, message));
    end
    return status;
  endfunction

  static function td_status_e from_addresses(input td_addresses_t addresses, output longint unsigned list_handle,
                                             output string message);
    longint unsigned chunk[0:td_dpi_pkg::ListAddresses-1];
    td_status_e      status;
    int              count;
    list_handle = 0;
    message = "";
    if (addresses.size() == 0) return TD_OK;
    status = td_status_e'(td_dpi_pkg::td_dpi_list_create(addresses.size(), 64, list_handle, message));
    for (int first = 0; first < addresses.size() && status == TD_OK; first += int'(td_dpi_pkg::ListAddresses)) begin
      count = addresses.size() - first;
      if (count > int'(td_dpi_pkg::ListAddresses)) count = int'(td_dpi_pkg::ListAddresses);
      for (int i = 0; i < count; i++) chunk[i] = addresses[first+i];
      status = td_status_e'(td_dpi_pkg::td_dpi_list_put_addresses(list_handle, first, count, chunk, message));
    end
    return status;
  endfunction

  static function td_status_e to_words(input longint unsigned list_handle, input int total, output td_words_t words,
                                       output string message);
    td_chunk_t  chunk;
    td_status_e status;
    int         count;
    words = new[total];
    status = TD_OK;
    message = "";
    for (int first = 0; first < total && status == TD_OK; first += int'(td_dpi_pkg::ListWords)) begin
      count = total - first;
      if (count > int'(td_dpi_pkg::ListWords)) count = int'(td_dpi_pkg::ListWords);
      status = td_status_e'(td_dpi_pkg::td_dpi_list_get(list_handle, first, count, chunk, message));
      for (int i = 0; i < count; i++) words[first+i] = chunk[i];
    end
    return status;
  endfunction
endclass
